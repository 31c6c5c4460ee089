// The first run of a process, on other inputs than those of the first run before. The original is
// loaded beside it for the step that follows: a process with a GPU takes longer to start than all
// of its runs.
#include "worker/steps/step.h"

namespace cupilot::worker {

base::Result<Finding> StepFreshProcess(Trial& trial) {
  TRY(trial.Restart(true));
  return JudgeOtherInputs(trial, "first run of a process");
}

}  // namespace cupilot::worker
