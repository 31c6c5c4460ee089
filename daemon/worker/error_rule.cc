#include "worker/error_rule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "device/parallel.h"
#include "worker/case_plan.h"

namespace cupilot::worker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kProbeUnits = 32;
constexpr double kFew = 3;  // standard deviations of an rms, about
constexpr double kNarrowRoundoff = 0x1p-11;
constexpr double kHalfStep = 0x1p-25;  // half of the smallest number of half precision
// Of half and bfloat16 arithmetic. A format with 3 bits less has an rms of 1.2 to 4 units where it
// is used in one operation, which single elements do not show: cancellation makes as much of them.
constexpr double kNarrowRms = 1;
constexpr double kNarrowMax = 16;
constexpr double kNarrowProbeUnits = 8;
constexpr double kOriginals = 4, kNarrowOriginals = 3;  // times the original's own rms
constexpr std::size_t kBlockElements = 1 << 14;         // elements that are summed up together
constexpr std::size_t kRhoStretch = 1 << 9;             // elements that are converted together

// Of numbers one of which is not finite.
bool SameClass(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

// Sums over some elements; those of blocks are added up in their order.
struct Sums {
  double squares = 0;
  double max = -1;
  std::size_t worst = 0;
  std::size_t count = 0;  // elements with an exact value

  void Add(double y, double o, const Expected& expected, std::size_t element) {
    const double exact = expected.exact[element];
    const bool known = std::isfinite(exact);
    double r = 0;
    if (std::isfinite(o) && std::isfinite(y)) {
      // The twin's range is wider: where it has no number either, the original is the measure.
      r = known ? expected.ErrorOf(y, element) / expected.unit[element] : y == o ? 0 : kInfinity;
    } else if (expected.narrow && known && std::isfinite(y)) {
      r = expected.ErrorOf(y, element) / expected.unit[element];
    } else if (expected.narrow && !known && SameClass(exact, y)) {
      r = 0;
    } else {
      r = SameClass(o, y) ? 0 : kInfinity;
    }
    if (r > max) {
      max = r;
      worst = element;
    }
    squares += r * r;
    count += known ? 1 : 0;
  }

  void Add(const Sums& later) {
    squares += later.squares;
    count += later.count;
    if (later.max <= max) return;
    max = later.max;
    worst = later.worst;
  }
};

Rho RhoFrom(const Sums& sums) {
  const auto count = static_cast<double>(std::max<std::size_t>(sums.count, 1));
  return {std::sqrt(sums.squares / count), std::max(sums.max, 0.0), sums.worst, sums.count};
}

}  // namespace

Rho RhoOf(const std::vector<double>& values, const std::vector<double>& original,
          const Expected& expected) {
  Sums sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums.Add(values[i], original[i], expected, i);
  }
  return RhoFrom(sums);
}

Rho RhoOf(const std::byte* values, const std::byte* original, const device::ElementType& type,
          const Expected& expected) {
  const std::size_t count = expected.exact.size();
  std::vector<Sums> blocks((count + kBlockElements - 1) / kBlockElements);
  const auto sum_block = [&](std::size_t block) {
    std::array<double, kRhoStretch> y, o;
    const std::size_t end = std::min(count, (block + 1) * kBlockElements);
    for (std::size_t first = block * kBlockElements; first < end; first += kRhoStretch) {
      const std::size_t n = std::min(kRhoStretch, end - first);
      const auto from = static_cast<std::int64_t>(first), many = static_cast<std::int64_t>(n);
      device::ReadNumbers(values, from, many, type, y.data());
      device::ReadNumbers(original, from, many, type, o.data());
      for (std::size_t i = 0; i < n; ++i) {
        blocks[block].Add(y[i], o[i], expected, first + i);
      }
    }
  };
  device::InParallel(
      static_cast<std::int64_t>(blocks.size()),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
          sum_block(static_cast<std::size_t>(block));
        }
      },
      2);
  Sums total;
  for (const Sums& block : blocks) total.Add(block);
  return RhoFrom(total);
}

void DescribeRounding(const device::ElementType& output, double roundoff, Expected& expected) {
  if (device::Roundoff(output) > roundoff) {
    expected.storage = device::Roundoff(output);
    expected.smallest_storage = output.number == device::Number::kFloat16 ? kHalfStep : 0;
  }
  expected.narrow = roundoff >= kNarrowRoundoff;
}

// Numbers of half precision are never flushed: the smallest are as far apart as the smallest normal
// ones.
double UnitOf(double kappa, double exact, double roundoff, const device::ElementType& output) {
  const bool half = output.number == device::Number::kFloat16;
  return kappa + roundoff * std::fabs(exact) + (half ? kHalfStep : device::SmallestNormal(output));
}

double InputsOfOneOutput(const Layout& layout, const Expected& expected) {
  double inputs = 0;
  for (const Region& region : layout.regions) {
    if (region.input) inputs += static_cast<double>(region.count * region.type.lanes);
  }
  const auto outputs = static_cast<double>(std::max<std::size_t>(expected.exact.size(), 1));
  return std::max({1.0, expected.reach, std::ceil(inputs / outputs)});
}

void CountEqualTerms(const std::vector<double>& terms_of_zeros, double m, double roundoff,
                     Expected& expected) {
  for (std::size_t i = 0; i < terms_of_zeros.size(); ++i) {
    const double from_zeros = std::fabs(terms_of_zeros[i]);
    if (!std::isfinite(from_zeros) || !std::isfinite(expected.exact[i])) continue;
    if (from_zeros < expected.unit[i]) continue;
    const double all = std::max(from_zeros, std::fabs(expected.exact[i]));
    expected.unit[i] += m / (expected.narrow ? kNarrowRms : kProbeUnits) * roundoff * all;
  }
}

bool IsExact(const Rho& original) { return original.max == 0; }

Limits LimitsOf(const Rho& original, double m, bool dense, bool narrow) {
  const double few =
      original.elements == 0 ? 1 : 1 + kFew / std::sqrt(static_cast<double>(original.elements));
  const double of_original = (narrow ? kNarrowOriginals : kOriginals) * original.rms;
  if (!dense) {
    return {narrow ? std::max(few * kNarrowRms, of_original) : kInfinity,
            std::max(narrow ? kNarrowProbeUnits : kProbeUnits, 4 * original.max)};
  }
  return {std::max(few * std::max(narrow ? kNarrowRms : 16, std::sqrt(m) / 2), of_original),
          std::max({narrow ? kNarrowMax : 128, 4 * original.max, 4 * std::sqrt(m)})};
}

bool Passes(const Rho& candidate, const Limits& limits) {
  return candidate.rms <= limits.rms && candidate.max <= limits.max;
}

}  // namespace cupilot::worker
