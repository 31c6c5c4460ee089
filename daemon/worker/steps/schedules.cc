// Other orders of blocks, warps and threads, on the host device: results that differ are a race
// (cupilot_host_schedule.h says why they differ each time).
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

base::Result<Finding> JudgeUnder(Trial& trial, const std::string& schedule) {
  TRY_ASSIGN(const auto reference, trial.Workload());
  TRY_ASSIGN(const std::string why_not, trial.references().WhyNotUnder(schedule));
  if (!why_not.empty()) {
    trial.Note("schedules", schedule + ": dropped: " + why_not);
    return Finding{};
  }
  trial.schedule = schedule;
  auto judged = trial.Judge({*reference, "of the workload, schedule " + schedule});
  trial.schedule.clear();
  if (!judged) return base::Fail(judged.error());
  if (judged->reason == "unwritten_output") judged->reason = "race";
  return Because(std::move(*judged), "race");
}

}  // namespace

base::Result<Finding> StepSchedules(Trial& trial) {
  if (trial.set().device != "host") {
    trial.Note("schedules", "not asked: a GPU has its own order");
    return Finding{};
  }
  const std::string shuffled = "blocks-shuffled=" + std::to_string(trial.set().seed % 1000000);
  for (const std::string& schedule :
       {std::string("threads-forward"), std::string("threads-reversed"),
        std::string("warps-reversed blocks-reversed"), std::string("one-block"),
        "threads-reversed " + shuffled}) {
    TRY_ASSIGN(Finding finding, JudgeUnder(trial, schedule));
    if (!finding.reason.empty()) return finding;
  }
  return Finding{};
}

}  // namespace cupilot::worker
