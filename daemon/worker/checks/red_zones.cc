#include <algorithm>

#include "worker/checks/check.h"

namespace cupilot::worker {
namespace {

// `near`: the region before the red zone, or the first one behind it.
Finding Found(const Region& near, std::size_t at) {
  return {"out_of_bounds", "a byte outside of all buffers was written, near '" + near.name + "' (" +
                               std::to_string(near.bytes()) + " bytes), at its byte " +
                               std::to_string(static_cast<std::int64_t>(at) - near.offset)};
}

}  // namespace

Finding CheckRedZones(const Observation& seen, Errors&) {
  std::vector<const Region*> sorted;
  sorted.reserve(seen.plan.layout.regions.size());
  for (const Region& region : seen.plan.layout.regions) sorted.push_back(&region);
  std::sort(sorted.begin(), sorted.end(),
            [](const Region* a, const Region* b) { return a->offset < b->offset; });
  std::size_t at = 0;
  for (std::size_t i = 0; i <= sorted.size(); ++i) {
    const bool last = i == sorted.size();
    const std::size_t end = last ? seen.after.size() : static_cast<std::size_t>(sorted[i]->offset);
    const auto zone = seen.after.subspan(at, end - at);
    const auto other =
        std::find_if(zone.begin(), zone.end(), [](std::byte b) { return b != kRedByte; });
    if (other != zone.end() && !sorted.empty()) {
      return Found(*sorted[i > 0 ? i - 1 : 0], at + static_cast<std::size_t>(other - zone.begin()));
    }
    if (!last) at = end + static_cast<std::size_t>(sorted[i]->bytes());
  }
  return {};
}

}  // namespace cupilot::worker
