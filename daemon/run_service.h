// The daemon itself: the lock, the store, the workers, the service, the socket; then the loop.
#pragma once

#include <chrono>
#include <string>

#include "base/paths.h"
#include "base/unique_function.h"
#include "service/settings.h"

namespace cupilot {

inline constexpr int kStartAgain = 75;  // EX_TEMPFAIL; the service's unit starts the next one on it

struct ServiceStart {
  int socket = -1;  // given by systemd (activation.h); -1: ours is bound
  // How long the end of another daemon is waited for; zero: it is an error.
  std::chrono::milliseconds patience{0};
};

// `ready` is told once the socket is served, with an empty text, or why it cannot be. Returns the
// exit code: 0, kStartAgain where systemd is to start the next version, or that of an environment
// in which it cannot run.
int RunService(const base::UserFolders& folders, const service::Settings& settings,
               const ServiceStart& start, base::UniqueFunction<void(const std::string&)> ready);

}  // namespace cupilot
