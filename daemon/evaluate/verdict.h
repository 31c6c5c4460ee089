// The rule that turns verified results and measurements into a verdict (design, section 4.5). Pure
// functions; the only place where a variant becomes accepted.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "protocol/worker_messages.h"
#include "records/evaluation.h"
#include "records/workload.h"

namespace cupilot::evaluate {

inline constexpr double kMinimumGain = 1.02;   // the interval's lower end, over all cases
inline constexpr double kMinimumGainUs = 0.2;  // 200 ns of the original's time
inline constexpr double kWorstCase = 0.98;     // no case may be below it

// Speedup over all cases with its 95 % interval: sum(w) / sum(w / s). A case that the variant's
// guard does not admit runs the original: a speedup of 1 without width.
struct Combined {
  double speedup = 0;
  std::array<double, 2> interval{0, 0};
  // Saved a launch, on average over the launches of admitted cases that the weights stand for.
  double gain_us = 0;
};

// Cases are matched with the workload's by name; where a case has two entries (cold and warm), the
// better one counts. kInternal if a case was neither measured nor left to the original, none was
// measured, or a number is not positive and finite.
base::Result<Combined> Combine(const std::vector<records::CaseResult>& cases,
                               const records::Workload& workload);

std::string FormatSpeedup(double speedup);  // "1.25x"

struct Verdict {
  bool accepted = false;
  std::string reason;  // of records::kReasons, empty if accepted
  std::string detail;
  std::optional<Combined> combined;
};

// The entry of a case that counts: the better one of cold and warm, which has to win while the
// other may only not lose. kInternal as above.
base::Result<const records::CaseResult*> BestOf(const std::vector<records::CaseResult>& cases,
                                                const std::string& name);

// What a variant changes where something else ran before it, by whose times.
struct Change {
  double low = 0;  // 95 %, as a factor
  double speedup = 0;
  double gain_us = 0;  // a launch
};
// The one rule: against the original, against the incumbent, and behind variants for other sizes.
// Empty: it is faster.
std::string WhyNotFaster(const Change& change);

// In the evaluation's metrics, as "against": by how much it is faster than that variant, which was
// timed in the same run.
void NoteDuel(const std::string& variant, const Combined& combined,
              records::Evaluation& evaluation);
// What such a run said of the two, whichever of them noted it. Nothing: there was none.
std::optional<Change> Dueled(const records::Evaluation& candidate,
                             const records::Evaluation& incumbent);

// `first` alone: whether a confirmation is worth its time. Accepted here means "confirm".
base::Result<Verdict> JudgeOnce(const protocol::MeasureReply& measured,
                                const records::Workload& workload);

// Of a probe that comes before everything else: whether the rest is worth its time. Accepted here
// means "go on"; `combined` is for the order in which that is done. `best`: the speedup that is
// proven already, or 0.
base::Result<Verdict> JudgeProbe(const protocol::MeasureReply& probed,
                                 const records::Workload& workload, double best);
// How much faster than what few pairs say a candidate may be.
inline constexpr double kProbeDoubt = 1.1;

// Both processes must say it. The result's numbers are those of the process that says less.
base::Result<Verdict> JudgeBoth(const protocol::MeasureReply& first,
                                const protocol::MeasureReply& second,
                                const records::Workload& workload);

// The measurement whose numbers a record states: the smaller combined speedup of the two.
base::Result<bool> SecondSaysLess(const protocol::MeasureReply& first,
                                  const protocol::MeasureReply& second,
                                  const records::Workload& workload);

// Whether two accepted evaluations are for the same kernel, target, workload and device.
bool AreComparable(const records::Evaluation& a, const records::Evaluation& b);

// Whether an accepted candidate replaces the published incumbent, by the same rule, from both
// evaluations against the same original. The ratio's interval is that of two independent log
// ratios. An incumbent whose evidence holds for something else (kernel key, target, workload or
// device) is no competitor: true.
bool BeatsIncumbent(const records::Evaluation& candidate, const records::Evaluation& incumbent,
                    const records::Workload& workload);

}  // namespace cupilot::evaluate
