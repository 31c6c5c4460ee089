#include <algorithm>

#include "worker/checks/check.h"

namespace cupilot::worker {
namespace {

std::vector<const Region*> InOrder(const Layout& layout) {
  std::vector<const Region*> sorted;
  sorted.reserve(layout.regions.size());
  for (const Region& region : layout.regions) sorted.push_back(&region);
  std::sort(sorted.begin(), sorted.end(),
            [](const Region* a, const Region* b) { return a->offset < b->offset; });
  return sorted;
}

}  // namespace

std::optional<std::size_t> FirstByteOutside(const Layout& layout, std::span<const std::byte> arena,
                                            std::byte red) {
  const std::vector<const Region*> sorted = InOrder(layout);
  std::size_t at = 0;
  for (std::size_t i = 0; i <= sorted.size(); ++i) {
    const bool last = i == sorted.size();
    const std::size_t end = last ? arena.size() : static_cast<std::size_t>(sorted[i]->offset);
    const auto zone = arena.subspan(at, end - at);
    const auto other =
        std::find_if(zone.begin(), zone.end(), [red](std::byte b) { return b != red; });
    if (other != zone.end()) return at + static_cast<std::size_t>(other - zone.begin());
    if (!last) at = end + static_cast<std::size_t>(sorted[i]->bytes());
  }
  return std::nullopt;
}

// Near: the region before it, or the first one behind it.
std::string DescribeByteOutside(const Layout& layout, std::size_t at) {
  const Region* near = nullptr;
  for (const Region* region : InOrder(layout)) {
    if (near == nullptr || static_cast<std::size_t>(region->offset) <= at) near = region;
  }
  if (near == nullptr) return "a byte was written where there are no buffers";
  return "a byte outside of all buffers was written, near '" + near->name + "' (" +
         std::to_string(near->bytes()) + " bytes), at its byte " +
         std::to_string(static_cast<std::int64_t>(at) - near->offset);
}

Finding CheckRedZones(const Observation& seen, Errors&) {
  const auto at = FirstByteOutside(seen.plan.layout, seen.after, seen.before.red);
  if (!at) return {};
  return {"out_of_bounds", DescribeByteOutside(seen.plan.layout, *at) + FillName(seen)};
}

}  // namespace cupilot::worker
