#include "worker/nearby.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "device/parallel.h"
#include "worker/plant.h"

namespace cupilot::worker {
namespace {

// How far the last draw's inputs are away: so many roundoffs of theirs that what is rounded to
// coarser steps than they are is rounded otherwise, too.
constexpr double kRoundoffs = 3840;
constexpr double kFarthest = 0.03;
constexpr std::size_t kCounted = 3;     // errors near that are as great at least
constexpr double kHope = 16;            // times the greatest of the first draws
constexpr std::int64_t kStretch = 512;  // components that are converted together

std::vector<std::size_t> MovedRegions(const Layout& layout) {
  std::vector<std::size_t> regions = PlantableRegions(layout);
  std::erase_if(regions, [&](std::size_t r) { return !layout.regions[r].type.floating(); });
  return regions;
}

void Scale(const Region& region, double factor, std::byte* data) {
  device::InParallel(region.count * region.type.lanes, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> values(static_cast<std::size_t>(kStretch));
    for (std::int64_t first = begin; first < end; first += kStretch) {
      const std::int64_t n = std::min(kStretch, end - first);
      device::ReadNumbers(data, first, n, region.type, values.data());
      for (double& value : values) value *= factor;
      device::WriteNumbers(data, first, n, region.type, values.data());
    }
  });
}

// The greatest but (`rank` - 1) of `values`; 0 where there are fewer.
double Greatest(std::vector<double> values, std::size_t rank) {
  if (values.size() < rank) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end(), std::greater<>());
  return *at;
}

Rho AtLeast(const Rho& here, const std::vector<Rho>& draws, std::size_t rank, double times) {
  std::vector<double> rms, max;
  for (const Rho& draw : draws) {
    rms.push_back(draw.rms);
    max.push_back(draw.max);
  }
  Rho rho = here;
  rho.rms = times * std::max(here.rms, Greatest(std::move(rms), rank));
  rho.max = times * std::max(here.max, Greatest(std::move(max), rank));
  return rho;
}

}  // namespace

std::optional<CaseInputs> InputsNear(const Layout& layout, const CaseInputs& inputs, int draw) {
  const std::vector<std::size_t> regions = MovedRegions(layout);
  if (regions.empty()) return std::nullopt;
  double roundoff = 0;
  for (const std::size_t r : regions) {
    roundoff = std::max(roundoff, device::Roundoff(layout.regions[r].type));
  }
  const double farthest = std::min(kFarthest, kRoundoffs * roundoff);
  const double factor = 1 - farthest * (draw + 1) / kNearbyDraws;
  CaseInputs near = inputs;
  for (const std::size_t r : regions) Scale(layout.regions[r], factor, near.regions[r].data());
  near.changed = true;
  return near;
}

Rho TypicalError(const Rho& here, const std::vector<Rho>& draws) {
  return AtLeast(here, draws, kCounted, 1);
}

Rho HopefulError(const Rho& here, const std::vector<Rho>& first_draws) {
  return AtLeast(here, first_draws, 1, kHope);
}

}  // namespace cupilot::worker
