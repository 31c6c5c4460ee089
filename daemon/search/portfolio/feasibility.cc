#include "search/portfolio/feasibility.h"

#include <algorithm>
#include <utility>

namespace cupilot::search {
namespace {

constexpr std::size_t kLeastFailures = 3;
// The newest. What avoids failures has few of them: they are not forgotten for what succeeds since.
constexpr std::size_t kMostRows = 1500, kMostFailures = 500;
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
  std::size_t failures = std::min(history.failures(), kMostFailures);
  std::size_t successes = kMostRows - failures;
  std::vector<float> rows, row;
  std::vector<double> ran;
  for (std::size_t i = history.results().size(); i > 0 && failures + successes > 0; --i) {
    const History::Result& result = history.results()[i - 1];
    std::size_t& left = result.ran ? successes : failures;
    if (!result.instructs || left == 0) continue;
    --left;
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
