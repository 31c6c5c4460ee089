#include "search/portfolio/bandit.h"

namespace cupilot::search {
namespace {

constexpr double kFade = 0.85;  // of an arm's past with each of its evaluations

}  // namespace

Bandit::Bandit(const std::vector<double>& first_gains, const BanditSettings& settings)
    : floor_(settings.floor) {
  for (const double gain : first_gains) {
    arms_.push_back({gain * settings.first_weight, settings.first_weight, 0});
  }
}

std::size_t Bandit::Choose(const std::vector<bool>& barred) {
  double all = 0;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (!barred[i]) all += GainOf(i) + floor_;
  }
  std::size_t chosen = arms_.size();
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (barred[i]) continue;
    arms_[i].due += (GainOf(i) + floor_) / all;
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
