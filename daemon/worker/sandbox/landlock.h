// Landlock (Linux 5.13 and later): a process gives up, for itself and all that it starts, the right
// to open files but some. No privilege is needed. The kernel's documentation:
// userspace-api/landlock.
#pragma once

#include "base/result.h"
#include "worker/sandbox/access.h"

namespace cupilot::worker {

// The kernel's version of the interface; 0: this system has none.
int LandlockVersion();

// For the calling thread, and for the threads and processes that it starts from now on. From
// version 4 it has no TCP either, from 6 it cannot signal processes outside. kUnavailable: the
// kernel refuses.
base::Result<> RestrictFiles(const Access& access);

}  // namespace cupilot::worker
