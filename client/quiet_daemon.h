// Tuning takes processors and devices, so that whoever measures a program asks the daemon to pause.
// From one thread.
#pragma once

#include <chrono>
#include <optional>

#include "client/connection.h"

namespace cupilot::client {

// A daemon that runs, and is not snoozed already, is snoozed until this is destroyed; if we are
// killed it goes on by itself. Without a daemon it does nothing, and none is started.
class QuietDaemon {
 public:
  QuietDaemon();
  ~QuietDaemon();
  QuietDaemon(const QuietDaemon&) = delete;
  QuietDaemon& operator=(const QuietDaemon&) = delete;

  // Before each of the runs.
  void Renew();

 private:
  std::optional<Connection> connection_;  // if it is we who snooze
  std::chrono::steady_clock::time_point renewed_;
};

}  // namespace cupilot::client
