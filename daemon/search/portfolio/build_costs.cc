#include "search/portfolio/build_costs.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cupilot::search {
namespace {

constexpr std::size_t kLeastBuilds = 12;
constexpr std::size_t kMostBuilds = 500;
constexpr BoostedTrees::Settings kCostTrees = {40, 4, 0.2, 1};
constexpr int kCostTreesAStep = 10;

}  // namespace

BuildCosts::BuildCosts(const Features& features)
    : features_(features), model_(kCostTrees), next_(kCostTrees) {}

double BuildCosts::WorthOf(const Point& point) const {
  if (!has_model_) return 1;
  std::vector<float> features;
  features_.Of(point, features);
  return std::min(1.0, std::exp(log_middle_ - model_.Predict(features)));
}

void BuildCosts::Begin() {
  std::vector<double> sorted = log_costs_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  log_middle_ = *middle;
  next_.Begin(rows_, features_.count(), log_costs_);
  has_next_ = true;
  fitted_ = log_costs_.size();
}

void BuildCosts::Learn(const Point& point, double seconds) {
  if (!(seconds > 0)) return;
  std::vector<float> row;
  features_.Of(point, row);
  rows_.insert(rows_.end(), row.begin(), row.end());
  log_costs_.push_back(std::log(seconds));
  if (log_costs_.size() > kMostBuilds) {
    const auto old = static_cast<std::ptrdiff_t>(kMostBuilds / 4);
    log_costs_.erase(log_costs_.begin(), log_costs_.begin() + old);
    rows_.erase(rows_.begin(), rows_.begin() + old * static_cast<std::ptrdiff_t>(row.size()));
    fitted_ = std::min(fitted_, log_costs_.size());
  }
  if (log_costs_.size() < kLeastBuilds) return;
  if (!has_next_ && (!has_model_ || log_costs_.size() > fitted_ + fitted_ / 8 + 4)) Begin();
  for (int i = 0; has_next_ && i < kCostTreesAStep; ++i) {
    if (next_.Grow()) continue;
    std::swap(model_, next_);
    has_model_ = true;
    has_next_ = false;
  }
}

}  // namespace cupilot::search
