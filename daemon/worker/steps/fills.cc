// The workload's own fill, and those of the gate.
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

base::Result<Finding> JudgeAll(Trial& trial, bool active) {
  for (const GateFill& fill : kGateFills) {
    if (fill.active != active || trial.LeftOut(std::string("fill ") + fill.name)) continue;
    TRY_ASSIGN(Finding finding, JudgeFill(trial, fill));
    if (!finding.reason.empty()) return finding;
  }
  return Finding{};
}

}  // namespace

base::Result<Finding> JudgeFill(Trial& trial, const GateFill& fill) {
  TRY_ASSIGN(const auto reference, trial.references().Find(&fill));
  if (reference->redundant) return Finding{};
  const std::string name = std::string("fill ") + fill.name;
  // An index made of it may lie outside: what is found there is nobody's result.
  TRY_ASSIGN(const auto workload, trial.Workload());
  const std::string why_not = WhyNotJudgedBy(*reference, *workload);
  if (!why_not.empty()) {
    trial.Note(name, "dropped: " + why_not);
    return Finding{};
  }
  TRY_ASSIGN(Finding finding,
             trial.Judge({*reference, fill.name, IsDense(&fill, *reference), &fill}));
  if (!finding.reason.empty()) return finding;
  TRY_ASSIGN(const auto judged, trial.references().Find(&fill));  // perhaps with its twin now
  trial.Note(name, trial.HowCompared(*judged));
  return finding;
}

base::Result<Finding> StepWorkload(Trial& trial) {
  TRY_ASSIGN(const auto reference, trial.Workload());
  TRY_ASSIGN(Finding finding, trial.Judge({*reference, "of the workload"}));
  if (!finding.reason.empty()) return finding;
  trial.workload_ran_last = true;
  trial.Note("fill workload", trial.HowCompared(*reference));
  return Finding{};
}

base::Result<Finding> StepFills(Trial& trial) { return JudgeAll(trial, true); }

base::Result<Finding> StepMoreFills(Trial& trial) { return JudgeAll(trial, false); }

}  // namespace cupilot::worker
