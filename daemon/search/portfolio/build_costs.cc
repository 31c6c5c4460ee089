#include "search/portfolio/build_costs.h"

#include <algorithm>
#include <cmath>

namespace cupilot::search {
namespace {

constexpr std::size_t kLeastBuilds = 12;
constexpr std::size_t kMostBuilds = 500;
constexpr BoostedTrees::Settings kCostTrees = {40, 4, 0.2, 1};
constexpr int kCostTreesAStep = 10;

}  // namespace

BuildCosts::BuildCosts(const Features& features) : features_(features), trees_(kCostTrees) {}

double BuildCosts::WorthOf(const Point& point) const {
  if (!trees_.IsFitted()) return 1;
  std::vector<float> features;
  features_.Of(point, features);
  return std::min(1.0, std::exp(log_middle_ - trees_.Predict(features)));
}

void BuildCosts::Begin() {
  std::vector<double> sorted = log_costs_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  log_middle_ = *middle;
  trees_.Begin(rows_, features_.count(), log_costs_);
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
  const bool more = !trees_.IsFitted() || log_costs_.size() > fitted_ + fitted_ / 8 + 4;
  if (!trees_.IsFitting() && more) Begin();
  trees_.Work(kCostTreesAStep);
}

}  // namespace cupilot::search
