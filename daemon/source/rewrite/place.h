// How a kernel uses its place in block and grid: what decides which techniques may give threads
// other places. Pure.
#pragma once

#include <vector>

#include "base/result.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

// One blockIdx.d * blockDim.d + threadIdx.d; `width` 0 for blockDim.d, else the constant in its
// place.
struct GlobalIndex {
  NodeId sum = kNone;
  char axis = 'x';
  std::int64_t width = 0;
};
std::vector<GlobalIndex> GlobalIndices(const Draft& draft);

// The kernel knows its place only by such sums, its threads share nothing and do not wait for each
// other: any thread may run anywhere, any number of them one after the other. kUnsupported with the
// reason otherwise.
base::Result<> CheckFreePlace(const Draft& draft);

// The body may run several times in one thread, each time as if it were the first: it leaves its
// parameters as they are, and it can be left by a jump to its end. kUnsupported with the reason
// otherwise.
base::Result<> CheckRepeatable(const Draft& draft);

// Writes blockDim where the text has the block's width as a constant, with a guard that it is that.
// For drafts that pass CheckFreePlace.
base::Result<> NormalisePlace(Draft& draft);

// The threads of a block share out work in strides of blockDim.x (for (i = threadIdx.x; ...;
// i += blockDim.x)), keep one value each in shared memory and combine these by halving steps;
// blocks do not depend on blockDim otherwise. A block of any smaller power of two does the same
// work.
base::Result<> CheckStridedBlock(const Draft& draft);

}  // namespace cupilot::source
