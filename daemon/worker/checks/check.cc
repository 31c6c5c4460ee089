#include "worker/checks/check.h"

#include <utility>

#include "worker/tables.h"

namespace cupilot::worker {

// Checks that look at the arena after a run are rows here; those that need runs of their own are
// steps (worker/steps/step.h).
const std::vector<CheckRow> kChecks = {
    {"out_of_bounds", "no byte outside of the buffers was written", &CheckRedZones},
    {"modified_input", "inputs are as they were", &CheckInputs},
    {"unwritten_output", "the same elements are written as by the original", &CheckWritten, true},
    {"wrong_values", "results are the original's", &CheckValues, true},
};

Finding RunChecks(const Observation& seen, Errors& errors,
                  const std::function<bool(const CheckRow&)>& asked) {
  for (const CheckRow& check : kChecks) {
    if (!asked(check)) continue;
    Finding finding = check.run(seen, errors);
    if (finding.reason.empty()) continue;
    if (check.run == &CheckValues) {
      Finding untouched = FindUntouched(seen);
      if (untouched.reason == "unwritten_output") finding = std::move(untouched);
    }
    finding.check = check.name;
    return finding;
  }
  return Finding{};
}

std::string Where(const Region& region, std::size_t element) {
  if (region.slices.count > 0) {
    const auto at = static_cast<std::int64_t>(element);
    const std::int64_t slice = at / region.slices.stride, inside = at % region.slices.stride;
    return "'" + SliceName(region, slice) + "'[" + std::to_string(inside) + "]" +
           (inside < region.slices.elements ? "" : " behind its end");
  }
  return "'" + region.name + "'[" + std::to_string(element) + "]";
}

std::string FillName(const Observation& seen) {
  return std::string(" (fill ") + seen.fill + ", case '" + seen.plan.name + "', seed " +
         std::to_string(seen.set.seed) + ")";
}

}  // namespace cupilot::worker
