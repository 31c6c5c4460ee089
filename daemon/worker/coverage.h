// What share of a case's inputs every correct kernel has to read: the original's results are looked
// at with one element changed at a time. Elements that move none of them may be skipped by a
// variant that knows better; what was never asked counts as if it did not matter, so that a floor
// made of it is from below.
#pragma once

#include <vector>

#include "worker/case_plan.h"
#include "worker/reference.h"

namespace cupilot::worker {

// Of `moved` successes among `asked` draws: the share of successes that is exceeded with
// probability 0.999 (Clopper and Pearson's one-sided interval). 0 if nothing was asked.
double LeastShare(int asked, int moved);

// Of one input's elements.
struct ShareThatMatters {
  double least = 0;   // LeastShare(); 0 where nothing may be changed or the original fails
  double likely = 1;  // of those that were asked; 1 where none were
};

// By region. Runs the original, at most about half a second of it, and keeps what it found.
// `workload`: its results on the workload's own inputs.
base::Result<std::vector<ShareThatMatters>> SharesThatMatter(const protocol::CandidateSet& set,
                                                             const CasePlan& plan,
                                                             const OriginalResult& workload,
                                                             References& references);

}  // namespace cupilot::worker
