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

// The same where counts and grid are numbers, as those of a capture are: they are taken for what
// the scalars say, a count for one of them, a product of two or three, or a small multiple, and
// scalars of one value for one size. A guess, which may see a relation where there is none. What
// was captured is cut off. Nothing where nothing is to be seen, and of pointers inside of buffers.
std::optional<records::Case> SmallerByGuess(const records::Kernel& kernel,
                                            const records::Case& workload, const CasePlan& plan,
                                            const device::Properties& device,
                                            std::int64_t most_bytes);

// Cases like `workload` with other values of its floating scalars, one at a time; `numbers` are
// among them.
std::vector<records::Case> OtherScalars(const records::Kernel& kernel,
                                        const records::Case& workload, const CasePlan& plan,
                                        const std::vector<double>& numbers = {});

}  // namespace cupilot::worker
