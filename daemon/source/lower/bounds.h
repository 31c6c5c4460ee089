// The conditions that a kernel begins with, as far as they are monotone along a row of threads.
// Pure.
#pragma once

#include "source/lower/thread_index.h"

namespace cupilot::source {

// Fills in `bounds` and `declarations`; `sums` must be there.
void FindBounds(const Tree& tree, NodeId kernel, ThreadIndex& index);

}  // namespace cupilot::source
