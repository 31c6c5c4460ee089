// The candidate in one process with the original: after it, and before it.
#include <algorithm>

#include "records/element_values.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// The original's results now, against those of its own process.
Finding CompareOriginal(const Trial& trial, const OriginalResult& reference) {
  if (!reference.repeats) return {};
  const Layout& layout = trial.scene().original.layout;
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const std::vector<std::byte>& expected = reference.outputs[r].bytes;
    const std::byte* now = trial.memory().data() + layout.regions[r].offset;
    const auto differ = std::mismatch(expected.begin(), expected.end(), now);
    if (differ.first == expected.end() || layout.regions[r].order_free) continue;
    const device::ElementType& type = layout.regions[r].type;
    const auto byte = differ.first - expected.begin();
    const auto component = static_cast<std::int64_t>(byte / (type.size() / type.lanes));
    return {"stateful",
            "after the candidate ran, the original gives another " +
                Where(layout.regions[r], static_cast<std::size_t>(byte / type.size())) + ": " +
                records::ExpectedGot(device::ShowNumber(expected.data(), component, type),
                                     device::ShowNumber(now, component, type)) +
                " (fill of the workload, case '" + trial.workload().name + "', seed " +
                std::to_string(trial.set().seed) + ")"};
  }
  return {};
}

}  // namespace

base::Result<Finding> StepAroundOriginal(Trial& trial) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  if (!trial.beside_original()) TRY(trial.Restart(true));
  TRY_ASSIGN(Finding finding, trial.RunOriginal(*workload));
  if (!finding.reason.empty()) return finding;
  TRY_ASSIGN(finding, JudgeOtherInputs(trial, "after the original"));
  if (!finding.reason.empty()) return finding;
  TRY_ASSIGN(finding, trial.RunOriginal(*workload));
  if (!finding.reason.empty()) return finding;
  finding = CompareOriginal(trial, *workload);
  if (finding.reason.empty()) return finding;
  // Atomic additions may have come in the same order twice by luck: then the rule decides.
  Before before;
  before.keep_workspaces = true;
  TRY_ASSIGN(const Finding by_rule, trial.JudgeResults({*workload, "of the workload"}, before));
  return by_rule.reason.empty() ? Finding{} : finding;
}

}  // namespace cupilot::worker
