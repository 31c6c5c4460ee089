// Regimes of floating numbers of which each is drawn by itself: far from zero, infinite ones and
// none at all in one window, halves, and the largest ones all in one thread's share. They are
// where a maximum that begins at a number, a search that ends early, a rounding of halves, a
// threshold on a sum, and a choice among candidates of each thread are wrong. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/regimes.h"

namespace cupilot::worker {

// As Regimes(), which has these, too. `regions`: of floating numbers, that may be changed.
std::vector<Regime> ExtremeRegimes(const CasePlan& plan, const CaseInputs& workload,
                                   const std::vector<std::size_t>& regions,
                                   const std::vector<double>& numbers, std::uint64_t seed);

}  // namespace cupilot::worker
