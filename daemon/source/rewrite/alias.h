// Whether the published guard makes sure that what a kernel writes is reached by one pointer only.
#pragma once

#include "base/result.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

// The guard compares all ranges behind pointer parameters that are written with all others, but not
// those that lie in one buffer of the workload, nor memory that is reached in other ways: through
// structures, pointers in memory, global variables. kUnsupported where the kernel has any of these.
base::Result<> CheckDisjoint(const Draft& draft);

}  // namespace cupilot::source
