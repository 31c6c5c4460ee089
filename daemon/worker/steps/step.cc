#include "worker/steps/step.h"

#include <utility>

namespace cupilot::worker {

const std::vector<StepRow> kSteps = {
    {"fill workload", "the original's results on the workload's own inputs", true, false,
     &StepWorkload},
    {"second_call", "the same results when it is called again on the same buffers", true, false,
     &StepSecondCall},
    {"fills", "the original's results on other inputs", true, false, &StepFills},
    {"stale_outputs", "the same results where memory holds those of other inputs", true, false,
     &StepStaleOutputs},
    {"alignment", "the same results where buffers begin at any element", true, false,
     &StepAlignment},
    {"plant", "the original's results with a decisive value for each output", true, false,
     &StepPlant},
    {"places", "the same results where buffers lie in another order", false, false, &StepPlaces},
    {"poisons", "the same results whatever outputs hold before", false, false, &StepPoisons},
    {"nearly_right", "every element is written, also where nearly all are right already", false,
     false, &StepNearlyRight},
    {"more_calls", "the same results call after call", false, false, &StepMoreCalls},
    {"changed_contents", "other results when the same buffers hold other inputs", false, true,
     &StepChangedContents},
    {"schedules", "the same results in other orders of blocks and threads", false, true,
     &StepSchedules},
    {"accesses", "no thread's access collides with another's or is one that it may not make", false,
     false, &StepAccesses},
    {"undefined", "no thread does what the language leaves undefined, unless the original does",
     false, false, &StepUndefined},
    {"more_fills", "the original's results on further inputs", false, true, &StepMoreFills},
    {"aliases", "the original's results with overlaps that the variant's guard admits", false,
     false, &StepAliases},
    {"special_values", "the original's results with values that random data do not have", false,
     true, &StepSpecialValues},
    {"regimes", "the original's results on ties, ends of ranges, other sizes and the like", false,
     true, &StepRegimes},
    {"exchanges", "the original's results with captured integers in another order", false, false,
     &StepExchanges},
    {"scalars", "the original's results for other floating scalars", false, true, &StepScalars},
    {"sizes", "the original's results at other sizes that the variant's guard admits", false, true,
     &StepSizes},
    {"fresh_process", "the same results in a process where nothing ran before", false, false,
     &StepFreshProcess},
    {"around_original", "the same results after the original, and the original's after it", false,
     false, &StepAroundOriginal},
    {"plants", "the original's results with decisive values in each input", false, false,
     &StepPlants},
    {"compute_sanitizer", "compute-sanitizer finds nothing that it does not find in the original",
     false, false, &StepSanitizers},
};

Finding Because(Finding finding, const char* reason) {
  if (finding.reason == "wrong_values" || finding.reason == "precision_loss") {
    finding.reason = reason;
  }
  return finding;
}

base::Result<Finding> JudgeContentsOf(Trial& trial, const char* step, const std::string& name,
                                      const std::function<CaseInputs()>& draw) {
  TRY_ASSIGN(const auto workload, trial.Workload());
  TRY_ASSIGN(const auto reference, trial.references().FindOf(name, draw));
  if (reference->redundant) return Finding{};
  if (const std::string why_not = WhyNotJudgedBy(*reference, *workload); !why_not.empty()) {
    trial.Note(step, name + ": dropped: " + why_not);
    return Finding{};
  }
  return trial.Judge({*reference, "of the workload with " + name});
}

base::Result<Finding> JudgeOtherInputs(Trial& trial, const std::string& when) {
  TRY_ASSIGN(const GateFill* fill, trial.AnotherFill());
  TRY_ASSIGN(const auto reference,
             fill == nullptr ? trial.Workload() : trial.references().Find(fill));
  const std::string label = (fill == nullptr ? "of the workload" : fill->name) + (", " + when);
  TRY_ASSIGN(Finding finding, trial.Judge({*reference, label, IsDense(fill, *reference), fill}));
  return Because(std::move(finding), "stateful");
}

}  // namespace cupilot::worker
