#include "search/portfolio/bandit.h"

namespace cupilot::search {
namespace {

constexpr double kFloor = 0.1;      // that each arm's gain counts besides its own: exploration
constexpr double kFade = 0.85;      // of an arm's past with each of its evaluations
constexpr double kFirstWeight = 4;  // evaluations that the first gains stand for

}  // namespace

Bandit::Bandit(const std::vector<double>& first_gains) {
  for (const double gain : first_gains) arms_.push_back({gain * kFirstWeight, kFirstWeight, 0});
}

std::size_t Bandit::Choose(const std::vector<bool>& barred) {
  double all = 0;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (!barred[i]) all += GainOf(i) + kFloor;
  }
  std::size_t chosen = arms_.size();
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (barred[i]) continue;
    arms_[i].due += (GainOf(i) + kFloor) / all;
    if (chosen == arms_.size() || arms_[i].due > arms_[chosen].due) chosen = i;
  }
  arms_[chosen].due -= 1;
  return chosen;
}

void Bandit::Reward(std::size_t arm, double gain) {
  arms_[arm].gain = kFade * arms_[arm].gain + gain;
  arms_[arm].weight = kFade * arms_[arm].weight + 1;
}

}  // namespace cupilot::search
