// Loops in which a thread waits for what other threads do to memory: locks and barriers that a
// kernel makes of atomics. Their meaning depends on which threads run at the same time, which no
// comparison of results can see.
#pragma once

#include <string>

#include "source/syntax/tree.h"

namespace cupilot::source {

// The call by which `loop` asks again and again (an atomic that changes nothing, a lock's
// compare-and-swap, an uncached load, or a function that does this), kNone if it does not wait. A
// loop around a compare-and-swap that computes a new value is not waiting: some thread always
// succeeds.
NodeId WaitingCall(const Tree& tree, NodeId loop);

// Whether a type of libcu++ is an atomic or a barrier of the whole system, by its canonical name.
bool IsOfSystemScope(const std::string& canonical);

}  // namespace cupilot::source
