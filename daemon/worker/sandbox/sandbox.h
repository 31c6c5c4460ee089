// What a runner may not do any more once its modules are loaded: run programs, open files for
// writing, use the network, look into other processes. Seccomp (libseccomp) and resource limits; a
// candidate that tries gets an error, and a runner that cannot be confined does not run.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace cupilot::worker {

// Address space beyond what is mapped now (a sanitizer's shadow alone is terabytes), core files,
// file sizes. For the calling process and its children.
base::Result<> LimitResources(std::size_t address_space_bytes);

// What a candidate is in a runner: code of the process itself on the host; on a GPU it cannot call
// the system, and the driver must be able to open its devices at any time.
enum class Confinement { kHost, kGpu };

// The filter, for all threads of the process from now on.
base::Result<> ConfineRunner(Confinement confinement);

// "seccomp" or why there is none: what doctor shows.
std::string DescribeSandbox();

}  // namespace cupilot::worker
