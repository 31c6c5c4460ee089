// Unroll-and-jam over threads: one thread does the work of several, statement by statement. The
// threads of a kernel without barriers may run in any order, so also interleaved like this. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

struct JamOptions {
  int x = 1;             // threads that become one, along x ...
  int y = 1;             // ... and along y
  bool jammed = false;   // statement by statement, else one thread's work after the other's
  bool strided = false;  // they lie a block apart, else side by side: so that at each moment the
                         // threads of a warp still reach neighbouring places
};

// Changes the kernel's text; the launch is the caller's to change. The draft must pass
// CheckFreePlace. kUnsupported: its body cannot be repeated, or copies of it cannot share a scope.
base::Result<> JamThreads(Draft& draft, const JamOptions& options);

}  // namespace cupilot::source
