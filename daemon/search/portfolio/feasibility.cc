#include "search/portfolio/feasibility.h"

#include <algorithm>
#include <utility>

namespace cupilot::search {
namespace {

constexpr std::size_t kLeastFailures = 3;
constexpr std::size_t kMostRows = 1500;
constexpr BoostedTrees::Settings kFailureTrees = {30, 3, 0.3, 1};
constexpr int kTreesAStep = 2;

}  // namespace

Feasibility::Feasibility(const Features& features, bool enabled)
    : features_(features), enabled_(enabled), trees_(kFailureTrees) {}

double Feasibility::Of(const Point& point) const {
  if (!trees_.IsFitted()) return 1;
  std::vector<float> features;
  features_.Of(point, features);
  return std::clamp(trees_.Predict(features), kLeast, 1.0);
}

void Feasibility::Begin(const History& history) {
  // The newest results, of which failures are the rarer and therefore all count.
  std::vector<float> rows, row;
  std::vector<double> ran;
  for (std::size_t i = history.results().size(); i > 0 && ran.size() < kMostRows; --i) {
    const History::Result& result = history.results()[i - 1];
    if (!result.instructs) continue;
    features_.Of(result.point, row);
    rows.insert(rows.end(), row.begin(), row.end());
    ran.push_back(result.ran ? 1 : 0);
  }
  trees_.Begin(std::move(rows), features_.count(), std::move(ran));
  fitted_failures_ = history.failures();
  fitted_results_ = history.results().size();
}

void Feasibility::Learn(const History& history) {
  if (!enabled_ || history.failures() < kLeastFailures) return;
  if (!trees_.IsFitting()) {
    const bool more_failures = history.failures() > fitted_failures_ + fitted_failures_ / 8;
    const bool more_results = history.results().size() > fitted_results_ + fitted_results_ / 8 + 4;
    if (more_failures || more_results) Begin(history);
    return;
  }
  trees_.Work(kTreesAStep);
}

}  // namespace cupilot::search
