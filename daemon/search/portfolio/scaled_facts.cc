#include "search/portfolio/scaled_facts.h"

#include <algorithm>
#include <random>

#include "search/portfolio/scales.h"

namespace cupilot::search {
namespace {

constexpr int kDrawn = 300;  // points that say how far facts spread

}  // namespace

ScaledFacts::ScaledFacts(const Space& space, const PointFacts* facts) : facts_(facts) {
  if (facts == nullptr) return;
  std::mt19937_64 random(1);  // its own: a search's other draws are the same with and without facts
  std::vector<double> low, high;
  for (int i = 0; i < kDrawn; ++i) {
    const std::vector<double> logs = LogFactsOf(*facts, space.Draw(random), {});
    if (low.empty()) low = high = logs;
    for (std::size_t f = 0; f < logs.size(); ++f) {
      low[f] = std::min(low[f], logs[f]);
      high[f] = std::max(high[f], logs[f]);
    }
  }
  for (std::size_t f = 0; f < low.size(); ++f) {
    if (high[f] <= low[f]) continue;
    seen_.push_back({f, static_cast<float>(low[f]), static_cast<float>(high[f] - low[f])});
  }
}

ScaledFacts::Values ScaledFacts::Of(const Point& point) const {
  Values values;
  if (seen_.empty()) return values;
  const std::vector<double> logs = LogFactsOf(*facts_, point, {});
  values.reserve(seen_.size());
  for (const Seen& seen : seen_) {
    values.push_back((static_cast<float>(logs[seen.fact]) - seen.low) / seen.way);
  }
  return values;
}

}  // namespace cupilot::search
