// The system calls that a confined process may not make (seccomp, by libseccomp): they fail with
// EPERM.
#pragma once

#include "base/result.h"

namespace cupilot::worker {

enum class Confined {
  kParser,     // reads texts, and nothing else: no programs, no network, no writing
  kCompiler,   // starts programs and writes files, where it may; no network
  kCandidate,  // code of the process itself, on the host: as kParser
  // A candidate on a GPU cannot call the system; the driver's threads in its process open devices.
  kGpuCandidate,
};

// For all threads of the process from now on, and for what it starts. No process gets rights by
// starting a program either.
base::Result<> FilterCalls(Confined role);

}  // namespace cupilot::worker
