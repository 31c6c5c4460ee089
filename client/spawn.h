// Finds and starts the daemon.
#pragma once

#include <string>

#include "base/paths.h"
#include "base/result.h"

namespace cupilot::client {

// $CUPILOT_DAEMON, else cupilotd beside this program.
std::string DaemonProgram();

// The socket that a daemon with these folders serves.
std::string SocketPath(const base::UserFolders& folders);

// The log of a daemon that runs.
std::string DaemonLog(const base::UserFolders& folders);

// Where a daemon that is being started writes what it cannot log yet.
std::string StartLog(const base::UserFolders& folders);

// Whether a daemon runs. Asks its lock: a connection would wake one that systemd starts.
bool DaemonRuns(const base::UserFolders& folders);

// Whether somebody listens there now, systemd for a daemon that does not run yet included.
bool DaemonServes(const base::UserFolders& folders);

// Starts the daemon, detached and without any of our descriptors, and waits until it serves.
// kUnavailable with the reason that it gave if it ends, or does not serve in time.
// Where systemd runs for the user it gets a scope of its own (scope.h).
base::Result<> StartDaemon(const base::UserFolders& folders);

// The same of one that takes the place of the daemon that runs, once that has ended what it
// measures. False: that takes long, and the new one goes on waiting by itself.
base::Result<bool> StartNextDaemon(const base::UserFolders& folders);

// Whether CUPILOT_NO_SPAWN forbids commands to start a daemon on their own.
bool MayStartOnDemand();

// Waits until the process is gone; false if it is still there at the limit.
bool WaitForEnd(int pid, int limit_ms);

}  // namespace cupilot::client
