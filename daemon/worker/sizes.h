// Other sizes of a case: its scalars with other values where its counts follow them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/kernel.h"
#include "records/workload.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

// Cases like `workload` (planned as `plan`), small ones first: one, zero, primes, no multiples of
// the block, neighbours of its own sizes. Their names say how they differ. A scalar counts as a
// size if an array's count names it; it only shrinks where the grid does not follow it. Whether a
// case is legal, the original says. Empty: the case says no sizes.
std::vector<records::Case> OtherSizes(const records::Kernel& kernel, const records::Case& workload,
                                      const CasePlan& plan);

// The case with its sizes halved, the largest ones first, until its buffers have no more than
// `most_bytes`; nothing where they do not shrink with them. Whether it is legal, the original says.
std::optional<records::Case> SmallerSize(const records::Kernel& kernel,
                                         const records::Case& workload, const CasePlan& plan,
                                         const device::Properties& device, std::int64_t most_bytes);

// Cases like `workload` with other values of its floating scalars, one at a time; `numbers` are
// among them.
std::vector<records::Case> OtherScalars(const records::Kernel& kernel,
                                        const records::Case& workload, const CasePlan& plan,
                                        const std::vector<double>& numbers = {});

}  // namespace cupilot::worker
