// The machine-wide lock on a device: whoever measures holds it, so that two daemons, or a daemon
// and a client, never measure into each other. All users of the machine share it.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace cupilot::device {

// "/tmp/cupilot-device-host.lock" for "host"; for others by their UUID.
std::string DeviceLockPath(const std::string& device);

// Holds the lock until destroyed; move-only.
class DeviceLock {
 public:
  // kAlone: who measures. kShared: who only runs something, beside others of that kind, and behind
  // who waits to be alone.
  enum class Use { kAlone, kShared };
  // How long a shared request stays behind requests to be alone, at most: a stream of those would
  // starve it.
  static constexpr std::chrono::milliseconds kDeference{250};
  // Waits for the lock, at most `limit` (kUnavailable then). The file is created with mode 0666 and
  // opened without following links; kUnavailable if what is there is no plain file.
  static base::Result<DeviceLock> Acquire(const std::string& path, std::chrono::milliseconds limit,
                                          Use use = Use::kAlone,
                                          std::chrono::milliseconds deference = kDeference);

  // Whether somebody waits for it right now, in Acquire(). Cheap.
  static bool IsWaitedFor(const std::string& path);

  DeviceLock(DeviceLock&& other) noexcept : descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  DeviceLock& operator=(DeviceLock&& other) noexcept;
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;
  ~DeviceLock();

 private:
  explicit DeviceLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace cupilot::device
