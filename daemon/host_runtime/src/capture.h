// Captures the program (recording/recorder.h) where CUPILOT_CAPTURE names a plan: launches are
// counted and timed, and some are recorded, while all work of other threads with memory waits.
// Without that variable each of these calls is the test of a flag. Thread-safe; a forked child has
// a recording of its own. Nothing here fails the program.
#pragma once

#include <atomic>
#include <cstddef>

#include "cupilot_host_abi.h"
#include "registry.h"

namespace cupilot_host::capture {

inline constexpr int kUnknown = 0;
inline constexpr int kOff = 1;
inline constexpr int kOn = 2;
inline std::atomic<int> state{kUnknown};

// Reads the environment, once. The recording itself begins with the first launch.
bool LookAtEnvironment();
inline bool IsOn() {
  const int known = state.load(std::memory_order_relaxed);
  return known != kOff && (known == kOn || LookAtEnvironment());
}

// As long as it lives no launch is being recorded: around what writes or frees memory.
class Access {
 public:
  Access() {
    if (IsOn()) Enter();
  }
  ~Access() {
    if (inside_) Leave();
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

 private:
  void Enter();
  void Leave();
  bool inside_ = false;
};

struct LaunchInfo {
  const KernelEntry* entry;
  cupilot_host_dim3 grid;
  cupilot_host_dim3 block;
  std::size_t shared;
  void** arguments;
  bool cooperative;
};

// Around a launch that starts. One that did not end well is counted and not recorded.
class Launch {
 public:
  explicit Launch(const LaunchInfo& info) {
    if (IsOn()) Begin(info);
  }
  ~Launch() {
    if (running_ != nullptr) End(false);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  void Ended(bool well) {
    if (running_ != nullptr) End(well);
  }

 private:
  struct Running;
  void Begin(const LaunchInfo& info);
  void End(bool well);
  Running* running_ = nullptr;
};

}  // namespace cupilot_host::capture
