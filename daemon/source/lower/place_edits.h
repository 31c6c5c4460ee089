// The executing thread's place in the text of a kernel: what threadIdx and its relatives become,
// and what is known of them before the body runs. Pure.
#pragma once

#include <string>

#include "source/lower/edits.h"
#include "source/lower/thread_index.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// Below `root`, a node of a kernel's body, "threadIdx" becomes "cupilot_t.threadIdx", and
// blockIdx.x * width + threadIdx.x "cupilot_t.index_x".
void EditPlaces(const Tree& tree, NodeId root, const ThreadIndex& index, Edits& edits);

// The conditions of `index.bounds` are not tested again where they are known to hold.
void EditBounds(const Tree& tree, const ThreadIndex& index, Edits& edits);

// The body of a function that tests the bounds for one thread: bit 1 for those that hold up to some
// x, bit 2 for those that hold from some x on. "" if there are no bounds.
std::string BoundsTest(const Tree& tree, const ThreadIndex& index);

}  // namespace cupilot::source
