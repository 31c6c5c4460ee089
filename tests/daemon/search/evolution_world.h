// A world for evolutions to search: a hidden table of gains by sets of techniques, with
// interactions, implementations that fail or are poor, and stand-ins for those who answer tasks.
// Everything it says is a function of its seed and of the task alone (its id included), so that it
// may be asked in any order. The figures are not measurements; their shape is what the literature
// reports: one new technique at a time often works, several at once hardly ever (cuPilot), first
// implementations are often poor (K-Search), most ideas bring nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "search/evolution/evolution.h"
#include "search/random_numbers.h"

namespace cupilot::search::evolution {

class World {
 public:
  static constexpr int kTechniques = 14;
  using Set = std::set<int>;

  // A trap: what is found first stands in the way of most that is better.
  explicit World(std::uint64_t seed, bool trap = false) : seed_(seed) {
    std::mt19937_64 random(seed * 7919 + 1);
    for (int i = 0; i < kTechniques; ++i) {
      // A few bring much and are hard; most bring nothing.
      const double low = i < 5 ? 0.15 : i < 8 ? -0.05 : -0.30;
      const double high = i < 5 ? 0.60 : i < 8 ? 0.05 : -0.05;
      names_.push_back("technique_" + std::string(1, static_cast<char>('a' + i)));
      gains_.push_back(low + (high - low) * Unit(random));
      difficulties_.push_back((i < 5 ? 2 : 1) + static_cast<int>(Below(3, random)));
    }
    for (int i = 0; i < kTechniques; ++i) {
      for (int k = i + 1; k < kTechniques; ++k) {
        if (Unit(random) < 0.3) pairs_[{i, k}] = 0.5 * (Unit(random) - 0.5);
        if (i == 0 && k < 5 && trap) pairs_[{i, k}] = -0.3;
      }
    }
  }

  double LogGain(const Set& set) const {
    double sum = 0;
    for (const int i : set) sum += gains_[static_cast<std::size_t>(i)];
    for (const auto& [pair, gain] : pairs_) {
      if (set.count(pair.first) > 0 && set.count(pair.second) > 0) sum += gain;
    }
    return sum;
  }

  records::Strategy StrategyOf(const Set& set) const {
    records::Strategy strategy;
    for (const int i : set) {
      records::StrategyStep step;
      step.technique = names_[static_cast<std::size_t>(i)];
      strategy.steps.push_back(step);
      strategy.title += (strategy.title.empty() ? "" : " + ") + step.technique;
    }
    return strategy;
  }

  // What mechanical techniques have found: the same idea in six sizes, and two others below it.
  Input InputOf(std::uint64_t seed) {
    Input input;
    input.kernel = "kernel";
    input.seed = seed;
    input.original.variant.novelty_key = "original";
    input.original.bound = "dram";
    made_[""] = {};
    const std::vector<Set> found = {{0}, {0}, {0}, {0}, {0}, {0}, {1}, {2}};
    for (std::size_t i = 0; i < found.size(); ++i) {
      Individual member;
      member.variant = {"given" + std::to_string(i), "given" + std::to_string(i), 0};
      member.strategy = StrategyOf(found[i]);
      member.log_gain = LogGain(found[i]) - 0.01 * static_cast<double>(i) + (i < 6 ? 0.3 : 0.0);
      member.bound = "dram";
      made_[member.variant.id] = {found[i], member.log_gain, 0, true};
      input.given.push_back(member);
    }
    return input;
  }

  Result Answer(const Task& task) {
    std::mt19937_64 random(seed_ * 1000003 + static_cast<std::uint64_t>(task.id));
    random.discard(4);
    switch (task.kind) {
      case TaskKind::kStrategist:
        return Propose(task, random);
      case TaskKind::kTranslate:
        return Translate(task, random);
      case TaskKind::kRevise:
        return Revise(task, random);
      case TaskKind::kJudge:
        return Result::Votes(task.votes, 0);
      case TaskKind::kEvaluate:
        return Evaluate(task);
      case TaskKind::kAlign:
        return Result::Aligned(StrategyOf(made_.at(task.variant.id).set));
    }
    return Result::Unanswered("");
  }

 private:
  struct Made {
    Set set;
    double log_gain = 0;
    double lost = 0;  // by a poor implementation
    bool right = true;
  };

  double GainOf(const records::StrategyStep& step) const {
    const auto found = std::find(names_.begin(), names_.end(), step.technique);
    return gains_[static_cast<std::size_t>(found - names_.begin())];
  }

  Set SetOf(const records::Strategy& strategy) const {
    Set set;
    for (const records::StrategyStep& step : strategy.steps) {
      const auto found = std::find(names_.begin(), names_.end(), step.technique);
      if (found != names_.end()) set.insert(static_cast<int>(found - names_.begin()));
    }
    return set;
  }

  Result Propose(const Task& task, std::mt19937_64& random) const {
    std::vector<Plan> plans;
    Set united;
    for (const Individual& parent : task.parents) united.merge(SetOf(parent.strategy));
    for (int i = 0; i < task.wanted; ++i) {
      Set set = united;
      // A crossing is all of both first; after that, and for one parent, something is tried.
      if (task.parents.size() < 2 || i > 0)
        set.insert(static_cast<int>(Below(kTechniques, random)));
      if (Unit(random) < 0.3) set.insert(static_cast<int>(Below(kTechniques, random)));
      Plan plan;
      plan.strategy = StrategyOf(set);
      for (records::StrategyStep& step : plan.strategy.steps) {
        // What a model hopes for has little to do with what comes of it, and is never a loss.
        const double hint = GainOf(step) * 0.5 + 0.1 + 0.6 * (Unit(random) - 0.5);
        step.expected_gain = std::exp(std::max(hint, 0.02));
      }
      for (const int one : set) {
        plan.difficulties.push_back(difficulties_[static_cast<std::size_t>(one)]);
      }
      plans.push_back(plan);
    }
    return Result::Plans(plans);
  }

  Result Translate(const Task& task, std::mt19937_64& random) {
    const Made& parent = made_.at(task.parent.id);
    Set wanted = SetOf(task.strategy);
    // "Improve it": the model does what comes to its mind.
    if (wanted.empty()) wanted = {static_cast<int>(Below(kTechniques, random))};
    std::vector<int> news;
    for (const int one : wanted) {
      if (parent.set.count(one) == 0) news.push_back(one);
    }
    Made made;
    made.set = parent.set;
    double chance = 1;
    for (const int one : news) {
      // Of several at once most are forgotten.
      if (news.size() > 1 && Unit(random) < 0.5) continue;
      made.set.insert(one);
      chance *= 0.95 - 0.18 * difficulties_[static_cast<std::size_t>(one)];
    }
    made.right = Unit(random) < chance;
    const double change = LogGain(made.set) - LogGain(parent.set);
    made.lost = std::max(change, 0.0) * 0.6 * Unit(random);
    made.log_gain = parent.log_gain + change - made.lost;
    return Keep(task, made);
  }

  Result Revise(const Task& task, std::mt19937_64& random) {
    Made made = made_.at(task.variant.id);
    if (!made.right) {
      made.right = Unit(random) < 0.3;
    } else if (Unit(random) < 0.6) {
      made.log_gain += made.lost / 2;
      made.lost /= 2;
    }
    return Keep(task, made);
  }

  Result Keep(const Task& task, const Made& made) {
    const std::string id = "v" + std::to_string(task.id);
    made_[id] = made;
    return Result::Variant({id, id, 0});
  }

  Result Evaluate(const Task& task) const {
    const Made& made = made_.at(task.variant.id);
    Evidence evidence;
    evidence.kind = Evidence::Kind::kRejected;
    if (!made.right) {
      evidence.reason = "wrong_values";
      return Result::Of(evidence);
    }
    evidence.speedup = std::exp(made.log_gain);
    evidence.floor_share = 0.3;
    evidence.bound = "dram";
    if (*evidence.speedup >= 1.02) {
      evidence.kind = Evidence::Kind::kAccepted;
    } else {
      evidence.reason = "not_faster";
    }
    return Result::Of(evidence);
  }

  std::uint64_t seed_;
  std::vector<std::string> names_;
  std::vector<double> gains_;
  std::vector<int> difficulties_;
  std::map<std::pair<int, int>, double> pairs_;
  std::map<std::string, Made> made_;
};

// Runs it to its end, one task after the other; the best log gain.
inline double RunToEnd(Evolution& evolution, World& world) {
  while (const auto task = evolution.Next().task) evolution.Report(task->id, world.Answer(*task));
  return evolution.best().log_gain;
}

}  // namespace cupilot::search::evolution
