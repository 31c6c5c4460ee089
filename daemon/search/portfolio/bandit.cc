#include "search/portfolio/bandit.h"

#include <algorithm>

#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

constexpr double kExploration = 0.1;  // the share of turns that go to who waited longest
constexpr double kFade = 0.93;        // of an arm's past with each of its evaluations
constexpr double kFirstWeight = 4;    // evaluations that the first gains stand for

}  // namespace

Bandit::Bandit(std::vector<double> first_gains) {
  for (const double gain : first_gains) arms_.push_back({gain * kFirstWeight, kFirstWeight, 0});
}

std::size_t Bandit::Choose(const std::vector<bool>& barred, std::mt19937_64& random) {
  ++turn_;
  const bool explores = Unit(random) < kExploration;
  std::size_t chosen = arms_.size();
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (barred[i]) continue;
    if (chosen == arms_.size() ||
        (explores ? arms_[i].last < arms_[chosen].last : GainOf(i) > GainOf(chosen))) {
      chosen = i;
    }
  }
  arms_[chosen].last = turn_;
  return chosen;
}

void Bandit::Reward(std::size_t arm, double gain) {
  arms_[arm].gain = kFade * arms_[arm].gain + gain;
  arms_[arm].weight = kFade * arms_[arm].weight + 1;
}

}  // namespace cupilot::search
