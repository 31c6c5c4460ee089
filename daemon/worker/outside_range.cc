#include "worker/outside_range.h"

#include "device/element.h"

namespace cupilot::worker {

bool LeavesRange(const Layout& layout, const CaseInputs& inputs) {
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    const bool bounded = region.input && region.type.floating() && region.fill &&
                         region.fill->kind == device::FillKind::kUniform;
    if (!bounded || inputs.regions[r].empty()) continue;
    for (std::int64_t i = 0; i < ComponentsOf(region); ++i) {
      const double value = device::ReadNumber(inputs.regions[r].data(), i, region.type);
      if (value == 0 && region.fill->zeros > 0) continue;
      if (!(value >= region.fill->low && value <= region.fill->high)) return true;
    }
  }
  return false;
}

}  // namespace cupilot::worker
