// Which variants stand behind one launch, each for the sizes that its guard admits, and in which
// order the hook asks them. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "evaluate/verdict.h"

namespace cupilot::evaluate {

// Each guard that does not hold costs a launch some nanoseconds.
inline constexpr std::size_t kMostBehindOneLaunch = 3;

// Indices into `evaluations`: accepted ones of one kernel, workload and place, the oldest first.
// Each in its turn joins those that are there, or takes their place together with those of them
// that still add to it. Either way it has to be faster than what is there by the margins of a
// verdict: where it joins, in the sum over all cases that those asked before it leave, and slower
// in none of those that it takes over; in their place, in the sum over all. So nothing is published
// again for less, a variant for one size may be asked before one for all, and one for other sizes
// after it. Where the order makes no difference, the one that saves most comes first.
std::vector<std::size_t> ChooseSet(const std::vector<records::Evaluation>& evaluations,
                                   const records::Workload& workload);

// Whether a candidate may join the set, if it is as fast as its intervals allow.
bool MayJoin(const std::vector<records::Evaluation>& set,
             const std::vector<records::CaseResult>& candidate, const records::Workload& workload);

// The results of all together: of each case those of the variant that runs it.
std::vector<records::CaseResult> CasesOfSet(const std::vector<records::Evaluation>& set,
                                            const records::Workload& workload);

}  // namespace cupilot::evaluate
