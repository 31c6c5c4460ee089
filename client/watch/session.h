// `cupilot watch` at work: waits for keys, signals and the daemon, and shows what is.
#pragma once

#include <string>

#include "base/result.h"
#include "client/connection.h"
#include "client/watch/state.h"

namespace cupilot::client {

// Until a person ends it, or the terminal is gone; the terminal is as before then. Fails where it
// cannot be used.
base::Result<> WatchOnTerminal(Connection connection, const std::string& folder,
                               const std::string& notice);

// Prints a picture, and another one, behind an empty line, whenever something has changed: at most
// one a second. Until it is interrupted, or nobody reads.
base::Result<> WatchPlainly(Connection connection, const std::string& folder);

}  // namespace cupilot::client
