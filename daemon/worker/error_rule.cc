#include "worker/error_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cupilot::worker {

Rho RhoOf(const std::vector<double>& values, const std::vector<double>& original,
          const Expected& expected) {
  Rho rho;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    double r = 0;
    const double y = values[i], o = original[i];
    if (!std::isfinite(o) || !std::isfinite(y)) {
      const bool same = (std::isnan(o) && std::isnan(y)) || o == y;
      r = same ? 0 : std::numeric_limits<double>::infinity();
    } else if (std::isfinite(expected.exact[i])) {
      r = std::fabs(y - expected.exact[i]) / expected.unit[i];
    } else {
      // The twin's range is wider: where it has no number either, the original is the measure.
      r = y == o ? 0 : std::numeric_limits<double>::infinity();
    }
    if (r > rho.max || (i == 0 && r == 0)) {
      rho.max = r;
      rho.worst = i;
    }
    sum += r * r;
  }
  rho.rms = values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
  return rho;
}

Limits LimitsOf(const Rho& original, double m, bool dense) {
  if (!dense) return {std::numeric_limits<double>::infinity(), std::max(32.0, 4 * original.max)};
  return {std::max({16.0, 4 * original.rms, std::sqrt(m) / 2}),
          std::max({128.0, 4 * original.max, 4 * std::sqrt(m)})};
}

bool Passes(const Rho& candidate, const Limits& limits) {
  return candidate.rms <= limits.rms && candidate.max <= limits.max;
}

}  // namespace cupilot::worker
