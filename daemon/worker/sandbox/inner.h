// A worker that parses or compiles is two processes: this one, which reads requests and confines
// nothing but what it starts, and the inner one, which does the work and can reach only what the
// requests so far needed. A request that needs more gets a fresh one.
#pragma once

#include <string>

#include "base/result.h"
#include "worker/sandbox/access.h"

namespace cupilot::worker {

// Passes the lines of standard input on and the answers back until the input ends; returns the exit
// code. If the inner process dies in a request, this one ends in the same way: who started it sees
// what the request did. `kind`: "source" or "build".
int ServeFromInside(const std::string& kind);

// The inner process, first of all: what `access` (its argument) allows, and what `kind` may call.
base::Result<> BecomeInner(const std::string& kind, const std::string& access);

}  // namespace cupilot::worker
