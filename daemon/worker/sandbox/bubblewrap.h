// bubblewrap (bwrap) where it works: a view of the file system with nothing but what may be
// reached, no network, and no other processes.
#pragma once

#include <string>
#include <vector>

#include "worker/sandbox/access.h"

namespace cupilot::worker {

// Its path if a program could be run with it; asked once a process. Empty: it is not installed, or
// this system lets users make no namespaces.
const std::string& Bubblewrap();

// The words before a program's own. The program ends with the process that starts it, and has the
// same descriptors. `folder`: its working folder.
std::vector<std::string> BubblewrapWords(const std::string& bubblewrap, const Access& access,
                                         const std::string& folder);

// The signal that ended a child with this status (of waitpid), 0 if none did. What bubblewrap
// starts it tells of by an exit code, 128 and the signal.
int SignalOf(int status);

}  // namespace cupilot::worker
