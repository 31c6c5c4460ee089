#include "worker/reach.h"

#include <algorithm>
#include <cmath>

#include "worker/case_plan.h"
#include "worker/split_mix.h"

namespace cupilot::worker {
namespace {

constexpr double kReachStep = 8;  // from one density to the next
// A move of one input of 2^26 changes their sum by more than kSame; what atomic additions in
// another order do to it in double is less.
constexpr double kMove = 0x1p-4;
constexpr double kSame = 0x1p-42;

std::uint64_t Draw(std::uint64_t stream, std::uint64_t index) {
  return SplitMix(stream << 40, index);
}

// The share nearest to a half says most of m.
struct Best {
  double distance = 1;
  double reach = 1;

  void Look(double density, double share) {
    const double now = std::fabs(share - 0.5);
    if (now >= distance) return;
    distance = now;
    // All of them: at least as many as make 1 of 20 outputs stay an exception.
    const double still = std::max(1 - share, 0.05);
    reach = std::log(still) / std::log1p(-density);
  }
};

// Outputs that share their inputs move together: of one row of a softmax all or none, so that one
// run is one draw of whether, and says nothing of how often.
constexpr int kDraws = 8;
constexpr double kMostInputsDrawn = 1 << 15;  // beyond, there are many rows, or one run is dear

base::Result<std::vector<double>> MeanShares(double inputs, const SharesMoved& shares_moved,
                                             double density) {
  TRY_ASSIGN(std::vector<double> mean, shares_moved(density));
  if (inputs > kMostInputsDrawn) return mean;
  for (int draw = 1; draw < kDraws; ++draw) {
    TRY_ASSIGN(const std::vector<double> more, shares_moved(density));
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += more[i];
  }
  for (double& share : mean) share /= kDraws;
  return mean;
}

}  // namespace

void MoveSome(double* values, std::int64_t first, std::int64_t count, std::uint64_t stream,
              double density) {
  const double below = density * 0x1p53;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t word = Draw(stream, static_cast<std::uint64_t>(first + i));
    if (static_cast<double>(word >> 11) >= below) continue;
    // Not all by the same factor: results that are a share of all would stay.
    const double move = kMove * (1 + 0x1p-64 * static_cast<double>(word * 0x9e3779b97f4a7c15ull));
    values[i] += move * (values[i] == 0 ? 1 : values[i]);
  }
}

bool HasManyZeros(const Layout& layout, const std::vector<std::vector<std::byte>>& contents) {
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    if (!region.input || !region.type.floating()) continue;
    const std::int64_t count = region.count * region.type.lanes;
    std::int64_t others = count / 8;
    bool many = count > 0;
    for (std::int64_t i = 0; many && i < count; ++i) {
      many = device::ReadNumber(contents[r].data(), i, region.type) == 0 || --others >= 0;
    }
    if (many) return true;
  }
  return false;
}

bool IsBalanced(const Layout& layout, const std::vector<std::vector<std::byte>>& contents) {
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    if (!region.input || !region.type.floating()) continue;
    double sum = 0;
    for (std::int64_t i = 0; i < region.count * region.type.lanes; ++i) {
      sum += device::ReadNumber(contents[r].data(), i, region.type);
    }
    if (sum != 0) return false;
  }
  return true;
}

void KeepUnshifted(const std::vector<double>& before, const std::vector<double>& after,
                   std::vector<double>& terms_of_zeros) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (std::fabs(after[i] - before[i]) > 0x1p-20 * std::fabs(before[i])) continue;
    terms_of_zeros[i] = std::max(std::fabs(terms_of_zeros[i]), std::fabs(before[i]));
  }
}

double ShareMoved(const std::vector<double>& before, const std::vector<double>& after) {
  std::size_t moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double a = before[i], b = after[i];
    if (!std::isfinite(a) || !std::isfinite(b)) {
      moved += std::isfinite(a) != std::isfinite(b) ? 1 : 0;
    } else {
      moved += std::fabs(a - b) > kSame * std::max(std::fabs(a), std::fabs(b)) ? 1 : 0;
    }
  }
  return static_cast<double>(moved) / static_cast<double>(std::max<std::size_t>(before.size(), 1));
}

base::Result<std::vector<double>> MeasureReach(double inputs, const SharesMoved& shares_moved) {
  // Some outputs never move: those at borders, or of a branch that was not taken.
  TRY_ASSIGN(const std::vector<double> all, shares_moved(1));
  std::vector<Best> best(all.size());
  for (double density = 1 / kReachStep; density * inputs > 1 / kReachStep; density /= kReachStep) {
    TRY_ASSIGN(const std::vector<double> shares, MeanShares(inputs, shares_moved, density));
    bool more = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] <= 0) continue;
      const double share = std::min(1.0, shares[i] / all[i]);
      best[i].Look(density, share);
      more = more || share > 0.5;
    }
    if (!more) break;
  }
  std::vector<double> reach;
  reach.reserve(best.size());
  for (const Best& one : best) reach.push_back(std::clamp(one.reach, 1.0, std::max(1.0, inputs)));
  return reach;
}

}  // namespace cupilot::worker
