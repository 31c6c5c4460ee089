// The candidate is called again in the same process on the same buffers: outputs are poisoned
// again, and workspaces hold what the first call left there.
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

constexpr int kMoreCalls = 16;

base::Result<Finding> CallTwice(Trial& trial, const OriginalResult& reference) {
  if (!trial.workload_ran_last) {
    TRY_ASSIGN(Finding first, trial.Judge({reference, "of the workload"}));
    if (!first.reason.empty()) return Because(std::move(first), "nondeterministic");
  }
  Before before;
  before.keep_workspaces = true;
  return trial.Judge({reference, "of the workload, second call on the same buffers"}, before);
}

}  // namespace

base::Result<Finding> StepSecondCall(Trial& trial) {
  TRY_ASSIGN(const auto reference, trial.Workload());
  TRY_ASSIGN(Finding finding, CallTwice(trial, *reference));
  if (finding.reason.empty() || finding.reason == "nondeterministic") return finding;
  // Does the second call fail whenever there is one, or does any call fail now and then?
  TRY(trial.Restart(false));
  TRY_ASSIGN(Finding again, CallTwice(trial, *reference));
  const bool always = !again.reason.empty() && again.reason != "nondeterministic";
  finding.reason = always ? "stateful" : "nondeterministic";
  return finding;
}

base::Result<Finding> StepMoreCalls(Trial& trial) {
  TRY_ASSIGN(const auto reference, trial.Workload());
  for (int call = 1; call <= kMoreCalls; ++call) {
    Before before;
    before.keep_workspaces = call > 1;
    const std::string label =
        "of the workload, call " + std::to_string(call) + " on the same buffers";
    TRY_ASSIGN(Finding finding, trial.Judge({*reference, label}, before));
    if (finding.reason.empty()) continue;
    return Because(std::move(finding), call == 1 ? "nondeterministic" : "stateful");
  }
  return Finding{};
}

}  // namespace cupilot::worker
