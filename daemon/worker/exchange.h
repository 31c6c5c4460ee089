// Other contents for integers of which nobody says what they mean, those of a captured array: they
// may be indices, so no value is invented. An array without order has elements exchanged, which
// keeps a permutation one and every index in its range. One that is in order for the most part
// (offsets, sorted keys, the columns of sparse rows) has elements moved between their neighbours.
// (Reference: swap_and_gate.md, 1.8; whether the original is clean on them is asked before they
// count.) Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "worker/case_inputs.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

// Inputs of integers that come from a file.
std::vector<std::size_t> ExchangeableRegions(const Layout& layout);

// How much of a region is another.
enum class Exchange { kTwo, kSome, kAll };  // one pair, about one element in 64, as many as can be

// `workload` with that; not `changed` where nothing can be (all elements are equal, or lie as close
// as they may). A function of its arguments alone.
CaseInputs WithExchanged(const CasePlan& plan, const CaseInputs& workload, std::size_t region,
                         Exchange how_many, std::uint64_t seed);

}  // namespace cupilot::worker
