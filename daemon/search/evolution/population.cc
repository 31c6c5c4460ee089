#include "search/evolution/population.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "search/evolution/idea_tree.h"
#include "search/random_numbers.h"

namespace cupilot::search::evolution {
namespace {

bool IsFitter(const Individual& a, const Individual& b) {
  return a.log_gain != b.log_gain ? a.log_gain > b.log_gain : a.id < b.id;
}

}  // namespace

Population::Population(const Settings& settings, Individual original)
    : settings_(settings), original_(std::move(original)), best_(original_) {}

std::string Population::NicheOf(const Individual& member) const {
  return TechniquesOf(member.strategy);
}

bool Population::HasNiches() const { return settings_.niches && settings_.strategies; }

void Population::Add(Individual member) {
  if (IsFitter(member, best_)) best_ = member;
  members_.push_back(std::move(member));
  std::sort(members_.begin(), members_.end(), IsFitter);
  if (HasNiches()) Cap(static_cast<std::size_t>(std::max(settings_.niche_cap, 1)));
}

// Of each niche the best.
void Population::Cap(std::size_t each) {
  std::map<std::string, std::size_t> counts;
  std::vector<Individual> kept;
  for (Individual& member : members_) {
    if (++counts[NicheOf(member)] <= each) kept.push_back(std::move(member));
  }
  members_ = std::move(kept);
}

// The best of a few that are drawn; members are sorted, so that the least index is the best.
std::size_t Population::Tournament(const std::vector<std::size_t>& among,
                                   std::mt19937_64& random) const {
  std::size_t best = among[Below(among.size(), random)];
  for (int i = 1; i < settings_.tournament; ++i) {
    best = std::min(best, among[Below(among.size(), random)]);
  }
  return best;
}

std::size_t Population::Draw(const std::vector<std::size_t>& among, std::mt19937_64& random) const {
  if (!HasNiches()) return Tournament(among, random);
  std::map<std::string, std::vector<std::size_t>> niches;
  for (const std::size_t i : among) niches[NicheOf(members_[i])].push_back(i);
  // A niche stands in its tournament with its best member, so that many members are no advantage.
  std::vector<std::size_t> leaders;
  leaders.reserve(niches.size());
  for (const auto& [niche, inside] : niches) leaders.push_back(inside.front());
  const std::size_t leader = Tournament(leaders, random);
  return Tournament(niches[NicheOf(members_[leader])], random);
}

Individual Population::Parent(std::mt19937_64& random) const {
  if (members_.empty()) return original_;
  std::vector<std::size_t> all(members_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return members_[Draw(all, random)];
}

std::vector<Individual> Population::Parents(std::mt19937_64& random) const {
  const bool cross = settings_.crossover && Unit(random) < settings_.crossover_share;
  const Individual first = Parent(random);
  if (!cross) return {first};
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const bool other =
        HasNiches() ? NicheOf(members_[i]) != NicheOf(first) : members_[i].id != first.id;
    if (other) others.push_back(i);
  }
  if (others.empty()) return {first};
  std::vector<Individual> parents = {first, members_[Draw(others, random)]};
  std::sort(parents.begin(), parents.end(), IsFitter);
  return parents;
}

void Population::Survive(std::mt19937_64& random) {
  const auto room = static_cast<std::size_t>(std::max(settings_.population, 1));
  if (members_.size() <= room) return;
  const std::size_t elites = std::min<std::size_t>(std::max(settings_.elites, 1), room);
  std::vector<std::size_t> rest(members_.size() - elites);
  std::iota(rest.begin(), rest.end(), elites);
  std::vector<std::size_t> chosen(elites);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  while (chosen.size() < room) {
    const std::size_t winner = Draw(rest, random);
    rest.erase(std::find(rest.begin(), rest.end(), winner));
    chosen.push_back(winner);
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<Individual> kept;
  kept.reserve(chosen.size());
  for (const std::size_t i : chosen) kept.push_back(std::move(members_[i]));
  members_ = std::move(kept);
}

void Population::BeginEpoch() {
  if (HasNiches()) Cap(1);
  const auto room = static_cast<std::size_t>(std::max(settings_.epoch_parents, 1));
  if (members_.size() > room) members_.resize(room);
}

}  // namespace cupilot::search::evolution
