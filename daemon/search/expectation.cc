#include "search/expectation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace cupilot::search {
namespace {

constexpr double kMinute = 60;

// The logarithm of the best after so many results; the original is there from the beginning.
double BestAfter(const std::vector<std::optional<double>>& speedups, std::size_t count) {
  double best = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (speedups[i] && *speedups[i] > 0) best = std::max(best, std::log(*speedups[i]));
  }
  return best;
}

// The mean excess of the greatest.
double ScaleOfTail(const std::vector<std::optional<double>>& speedups) {
  std::vector<double> logs = {0};  // the original
  for (const std::optional<double>& speedup : speedups) {
    if (speedup && *speedup > 0) logs.push_back(std::log(*speedup));
  }
  if (logs.size() < 3) return 0;
  const auto k = static_cast<std::size_t>(std::sqrt(static_cast<double>(logs.size())));
  std::sort(logs.begin(), logs.end(), std::greater<>());
  double excess = 0;
  for (std::size_t i = 0; i < k; ++i) excess += logs[i] - logs[k];
  return excess / static_cast<double>(k);
}

}  // namespace

std::optional<Expectation> ExpectAnotherMinute(const std::vector<std::optional<double>>& speedups,
                                               double seconds) {
  const std::size_t count = speedups.size();
  if (count < kFewestResults || !(seconds > 0)) return std::nullopt;
  const double climbed = BestAfter(speedups, count) - BestAfter(speedups, count / 2);
  const double scale = std::max(ScaleOfTail(speedups), climbed / std::numbers::ln2);
  Expectation expected;
  const auto results = static_cast<double>(count);
  expected.evaluations = results / seconds * kMinute;
  expected.gain = std::expm1(scale * std::log1p(expected.evaluations / results));
  return expected;
}

}  // namespace cupilot::search
