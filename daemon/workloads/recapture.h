// A program that is captured again: what it did before is told from what it does now. Values.
#pragma once

#include "workloads/captured.h"

namespace cupilot::workloads {

// A case's share of the time of all cases may move by so much and is still the same. Times of one
// program vary by a few percent from run to run, each kernel's on its own. Between cases whose
// gains differ by a fifth so much moves the weighted gain by 1 %: less than the 2 % that a variant
// may lose on a case.
inline constexpr double kSameShare = 0.05;

// Where the later capture saw the same launches (geometry, scalars, contents) for shares of the
// time that are the same but for noise, its cases become the earlier one's with their names and
// weights: what was proven on them holds, and what replays said. Where the same launch now gave
// other results than each time that it was replayed, it is not the same. Else `later` stays as it
// is. True: they were taken.
bool TakeSameCases(const Captured& earlier, Captured& later);

}  // namespace cupilot::workloads
