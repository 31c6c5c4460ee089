#include "worker/placement.h"

#include <algorithm>
#include <utility>

namespace cupilot::worker {
namespace {

constexpr std::int64_t kLargestShift = 128;
constexpr std::int64_t kFurther = 3 * kRedZone + kAlignment;

// The region that a place in the arena belongs to: the last that begins at or before it.
std::size_t RegionAt(const Layout& layout, std::int64_t place) {
  std::size_t found = 0;
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const std::int64_t offset = layout.regions[r].offset;
    const bool nearer = offset <= place && (layout.regions[found].offset > place ||
                                            offset > layout.regions[found].offset);
    if (nearer) found = r;
  }
  return found;
}

// `offsets` by region; all that names a place follows them.
CasePlan At(const CasePlan& plan, const std::vector<std::int64_t>& offsets) {
  CasePlan placed = plan;
  std::int64_t end = 0;
  for (std::size_t r = 0; r < offsets.size(); ++r) {
    placed.layout.regions[r].offset = offsets[r];
    end = std::max(end, offsets[r] + plan.layout.regions[r].bytes());
  }
  placed.layout.bytes = (end + 2 * kRedZone - 1) / kRedZone * kRedZone;
  for (ArgumentValue& argument : placed.arguments) {
    for (ArgumentValue::Pointer& pointer : argument.pointers) {
      const std::size_t r = RegionAt(plan.layout, pointer.offset);
      pointer.offset += offsets[r] - plan.layout.regions[r].offset;
    }
  }
  // Of addresses only those that a plan's arguments have are named.
  for (auto& [name, address] : placed.environment.pointers) {
    if (address < kNominalBase) continue;
    const auto place = static_cast<std::int64_t>(address - kNominalBase);
    const std::size_t r = RegionAt(plan.layout, place);
    address = kNominalBase +
              static_cast<std::uint64_t>(place + offsets[r] - plan.layout.regions[r].offset);
  }
  return placed;
}

std::int64_t RoundUp(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::int64_t NaturalAlignment(const device::ElementType& type) {
  const std::int64_t size = std::max<std::int64_t>(1, type.size());
  return size & -size;
}

CasePlan Shifted(const CasePlan& plan, std::int64_t shift) {
  std::vector<std::int64_t> offsets;
  std::int64_t end = 0;
  for (const Region& region : plan.layout.regions) {
    const std::int64_t unit = NaturalAlignment(region.type);
    const std::int64_t aligned = RoundUp(end + kRedZone, std::max(kAlignment, unit));
    offsets.push_back(aligned + RoundUp(shift, unit));
    end = offsets.back() + region.bytes();
  }
  return At(plan, offsets);
}

CasePlan Reversed(const CasePlan& plan) {
  std::vector<std::int64_t> offsets(plan.layout.regions.size());
  std::int64_t end = 0;
  for (std::size_t r = offsets.size(); r-- > 0;) {
    const Region& region = plan.layout.regions[r];
    offsets[r] = RoundUp(end + kFurther, std::max(kAlignment, NaturalAlignment(region.type)));
    end = offsets[r] + region.bytes();
  }
  return At(plan, offsets);
}

std::size_t BytesOfAllPlacements(const CasePlan& plan) {
  return static_cast<std::size_t>(std::max(
      {plan.layout.bytes, Shifted(plan, kLargestShift).layout.bytes, Reversed(plan).layout.bytes}));
}

}  // namespace cupilot::worker
