// One daemon a state folder, by a lock on a file (a socket cannot say it: see loop/zmq_server.h).
// The file also holds a note: who runs, or how the last one ended (service/restart_note.h).
#pragma once

#include <string>

#include "base/result.h"

namespace cupilot::service {

class InstanceLock {
 public:
  // kUnavailable if another process holds it. Who only looks whether it is held does so for a
  // moment, and is waited for.
  static base::Result<InstanceLock> Take(const std::string& path);
  InstanceLock(InstanceLock&& other) noexcept;
  InstanceLock& operator=(InstanceLock&&) = delete;
  ~InstanceLock();

  // The note that was there when the lock was taken; empty: none.
  const std::string& before() const { return before_; }
  // Replaces the note. What fails is no reason to end: the next daemon knows less of this one.
  void Note(const std::string& text);

 private:
  explicit InstanceLock(int file);
  int file_;
  std::string before_;
};

}  // namespace cupilot::service
