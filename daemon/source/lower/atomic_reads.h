// Plain reads of a word that the same function changes by compare-and-swap, such as the first line
// of the loop in the programming guide: `old = *address; do { assumed = old; old =
// atomicCAS(address, assumed, ...); } while (assumed != old);`. On a device it reads some value
// that the word has had, which is all that the loop needs; the thread sanitizer takes it for a
// race. Pure.
#pragma once

#include <vector>

#include "source/syntax/tree.h"

namespace cupilot::source {

// The reads (their lvalues) in the order of the nodes. Told by their text: `*p` and `atomicCAS(p,
// ...)`, `bins[i]` and `atomicCAS(&bins[i], ...)`.
std::vector<NodeId> ReadsBesideCompareAndSwap(const Tree& tree);

}  // namespace cupilot::source
