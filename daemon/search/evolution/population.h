// The members that may become parents: tournament and elites as in cuPilot (arXiv 2512.16465),
// within and between niches. A niche is a set of techniques; a cap for each keeps one idea from
// filling the population (quality diversity after MAP-Elites, with the cells that OpenEvolve's
// authors wish they had: by what is done, not by the length of code). As long as nothing won, the
// original is the parent. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "search/evolution/settings.h"
#include "search/evolution/task.h"

namespace cupilot::search::evolution {

class Population {
 public:
  Population(const Settings& settings, Individual original);

  void Add(Individual member);
  // Whom a strategist crosses (two of different niches, the better first) or mutates (one).
  std::vector<Individual> Parents(std::mt19937_64& random) const;
  Individual Parent(std::mt19937_64& random) const;

  // After a round: elites, and by tournament as many others as there is room for.
  void Survive(std::mt19937_64& random);
  // After an epoch: its best become the parents of the next, each of another niche.
  void BeginEpoch();

  const std::vector<Individual>& members() const { return members_; }  // best first
  const Individual& original() const { return original_; }
  // The best ever, or the original.
  const Individual& best() const { return best_; }

 private:
  bool HasNiches() const;
  std::string NicheOf(const Individual& member) const;
  void Cap(std::size_t each);
  // Both draw indices into members_.
  std::size_t Tournament(const std::vector<std::size_t>& among, std::mt19937_64& random) const;
  std::size_t Draw(const std::vector<std::size_t>& among, std::mt19937_64& random) const;

  Settings settings_;
  Individual original_;
  Individual best_;
  std::vector<Individual> members_;
};

}  // namespace cupilot::search::evolution
