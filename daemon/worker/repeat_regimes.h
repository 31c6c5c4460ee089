// Regimes in which contents repeat: runs of one value, arrays that are equal or nearly so, rows of
// equal lengths that differ in single places, places that lead to the one before or to themselves.
// They are where what was the same once is taken for the same, and where a search goes on for long.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/regimes.h"

namespace cupilot::worker {

// As Regimes(), which has these, too. `regions`: of numbers in no order, that may be changed;
// `offsets`: where rows begin.
std::vector<Regime> RepeatRegimes(const CasePlan& plan, const CaseInputs& workload,
                                  const std::vector<std::size_t>& regions,
                                  const std::vector<std::size_t>& offsets, std::uint64_t seed);

}  // namespace cupilot::worker
