// Socket activation: systemd holds the socket and hands it to the daemon that it starts
// (sd_listen_fds(3): LISTEN_PID, LISTEN_FDS, descriptors from 3 on).
#pragma once

#include <string>

#include "base/result.h"

namespace cupilot {

// The descriptor that this process was given, close-on-exec, or -1 if it was given none; the
// variables are taken out of the environment, so that no child takes them for its own.
// kInvalidArgument with what is wrong if it is not one listening Unix socket at `path`.
base::Result<int> GivenSocket(const std::string& path);

}  // namespace cupilot
