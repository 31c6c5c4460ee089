// The first run of a process, on other inputs than those of the first run before. The original is
// loaded beside it for the step that follows: a process with a GPU takes longer to start than all
// of its runs.
#include "worker/steps/step.h"

namespace cupilot::worker {

base::Result<Finding> StepFreshProcess(Trial& trial) {
  TRY_ASSIGN(const GateFill* fill, trial.AnotherFill());
  TRY_ASSIGN(const auto reference,
             fill == nullptr ? trial.Workload() : trial.references().Find(fill));
  TRY(trial.Restart(true));
  const std::string label =
      std::string(fill == nullptr ? "of the workload" : fill->name) + ", first run of a process";
  TRY_ASSIGN(Finding finding, trial.Judge({*reference, label, IsDense(fill, *reference)}));
  return Because(std::move(finding), "stateful");
}

}  // namespace cupilot::worker
