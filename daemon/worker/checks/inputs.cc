#include <algorithm>

#include "device/parallel.h"
#include "records/element_values.h"
#include "worker/checks/check.h"

namespace cupilot::worker {

Finding CheckInputs(const Observation& seen, Errors&) {
  for (std::size_t r = 0; r < seen.original.layout.regions.size(); ++r) {
    const Region& region = seen.original.layout.regions[r];
    const std::vector<std::byte>& before = seen.reference.inputs->regions[r];
    if (!region.input || region.output || before.empty()) continue;
    const std::byte* after = seen.after.data() + region.offset;
    if (device::SameBytes(before.data(), after, before.size())) continue;
    const auto byte = static_cast<std::size_t>(
        std::mismatch(before.begin(), before.end(), after).first - before.begin());
    const auto size = static_cast<std::size_t>(region.type.size() / region.type.lanes);
    const auto component = static_cast<std::int64_t>(byte / size);
    return {"modified_input",
            "the input " + Where(region, byte / static_cast<std::size_t>(region.type.size())) +
                " was changed: " +
                records::WasAndIs(device::ShowNumber(before.data(), component, region.type),
                                  device::ShowNumber(after, component, region.type)) +
                FillName(seen)};
  }
  return {};
}

}  // namespace cupilot::worker
