// One daemon a state folder, by a lock on a file (a socket cannot say it: see loop/zmq_server.h).
#pragma once

#include <string>

#include "base/result.h"

namespace cupilot::service {

class InstanceLock {
 public:
  // kUnavailable if another process holds it.
  static base::Result<InstanceLock> Take(const std::string& path);
  InstanceLock(InstanceLock&& other) noexcept;
  InstanceLock& operator=(InstanceLock&&) = delete;
  ~InstanceLock();

 private:
  explicit InstanceLock(int file) : file_(file) {}
  int file_;
};

}  // namespace cupilot::service
