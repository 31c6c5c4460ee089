// The steps of a verification (design, section 6): runs of the candidate on one case, each followed
// by all checks (checks/check.h). One file and one row each; rows stand in the order of their cost,
// and the first that finds something ends the verification.
//
// Screening is what every candidate goes through: at most 8 launches of it a case. The rest is for
// finalists, which have proven faster once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/trial.h"

namespace cupilot::worker {

// Bytes of a case's buffers: with more, what may be asked at any size is asked at one with so many
// at most, where the case has one.
inline constexpr std::int64_t kStandInBytes = std::int64_t{6} << 20;

struct StepRow {
  const char* name;  // in the evaluation's record
  const char* what;  // that holds where the step passes
  bool screening;
  // What it asks has nothing to do with how much data there is: of a large case it is asked at a
  // smaller size.
  bool any_size;
  base::Result<Finding> (*run)(Trial& trial);
};

extern const std::vector<StepRow> kSteps;

// The fills: what the results are on other contents.
base::Result<Finding> StepWorkload(Trial& trial);
base::Result<Finding> StepFills(Trial& trial);
base::Result<Finding> StepMoreFills(Trial& trial);
// Decisive values at random positions.
base::Result<Finding> StepPlant(Trial& trial);
base::Result<Finding> StepPlants(Trial& trial);
base::Result<Finding> StepSpecialValues(Trial& trial);
// Contents that random data hardly ever have.
base::Result<Finding> StepRegimes(Trial& trial);
// Captured integers in another order.
base::Result<Finding> StepExchanges(Trial& trial);
// Other sizes and scalars inside the variant's guard.
base::Result<Finding> StepSizes(Trial& trial);
base::Result<Finding> StepScalars(Trial& trial);
// State: the same results whatever ran before and wherever the buffers lie.
base::Result<Finding> StepSecondCall(Trial& trial);
base::Result<Finding> StepMoreCalls(Trial& trial);
base::Result<Finding> StepStaleOutputs(Trial& trial);
base::Result<Finding> StepAlignment(Trial& trial);
base::Result<Finding> StepPlaces(Trial& trial);
base::Result<Finding> StepPoisons(Trial& trial);
base::Result<Finding> StepNearlyRight(Trial& trial);
base::Result<Finding> StepChangedContents(Trial& trial);
base::Result<Finding> StepFreshProcess(Trial& trial);
base::Result<Finding> StepAroundOriginal(Trial& trial);

// Other orders of blocks and threads.
base::Result<Finding> StepSchedules(Trial& trial);
// What its threads read and write, and what orders them.
base::Result<Finding> StepAccesses(Trial& trial);
// What the language does not define of what they do.
base::Result<Finding> StepUndefined(Trial& trial);
// What compute-sanitizer finds on a GPU.
base::Result<Finding> StepSanitizers(Trial& trial);
// Outputs over inputs, where the variant's own guard speaks of overlaps.
base::Result<Finding> StepAliases(Trial& trial);
// Wrong values of a case with overlapping arguments that are right where they lie apart are
// alias_unsafe.
base::Result<Finding> ExplainOverlap(Trial& trial, Finding finding);

// Contents that are no fill's (`name` is theirs alone), by all checks, where the original repeats
// its bits on them as on the workload's; a note by the step's name says where it does not.
base::Result<Finding> JudgeContentsOf(Trial& trial, const char* step, const std::string& name,
                                      const std::function<CaseInputs()>& draw);

// Contents on which results may be infinite or no numbers.
struct SpecialContents {
  const char* step;      // for notes
  std::string name;      // among the contents of a case
  bool numbers = true;   // what is a number has to be close to the original's, not only one
  bool finite = false;   // what is none in the original's results is not asked
  bool lattice = false;  // Regime::lattice
  double units = 0;      // that they may be off by at least; 0: as special values are judged
  bool plain = false;    // a declared tolerance holds here, too, with some room
};
base::Result<Finding> JudgeSpecialContents(Trial& trial, const SpecialContents& special,
                                           const std::function<CaseInputs()>& draw);
// Values that are no numbers at random positions.
base::Result<Finding> JudgeNoNumbers(Trial& trial);

// One of the gate's fills; a note says how it went where it passes or does not count.
base::Result<Finding> JudgeFill(Trial& trial, const GateFill& fill);

// The candidate's buffers as near behind aligned addresses as its guard admits; `how`: in words.
// Empty: it demands aligned ones.
std::optional<Trial::Scene> MakeShiftedScene(const Trial& trial, std::string* how);

// Other inputs than the workload's, if there are any; `when`: for details ("after the original").
// Values that are wrong are "stateful", since on these inputs they were right.
base::Result<Finding> JudgeOtherInputs(Trial& trial, const std::string& when);

// Whether a case of another size is one to judge by: the original runs without a fault there, and
// neither its neighbours in memory nor what lies between them matter.
base::Result<bool> IsLegalSize(Trial& sized, const CasePlan& plan, const OriginalResult& workload);

// A finding of a run that differs from one that passed only in what went before: wrong values have
// `reason` then ("stateful"). Others keep theirs.
Finding Because(Finding finding, const char* reason);

}  // namespace cupilot::worker
