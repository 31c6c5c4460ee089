// Who may touch the program's memory while a launch is recorded: all work of other threads waits
// outside while one is alone inside. No wait is for ever: a kernel that waits for what another
// thread does goes on in the end, and its recording is thrown away. Thread-safe; not for a thread
// that is inside already.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace cupilot_host {

class Gate {
 public:
  explicit Gate(std::chrono::milliseconds patience) : patience_(patience) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Beside all but who is alone.
  void Enter() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, patience_, [&] { return !IsClosed(); })) {
      // Reading comes to its end by itself; a launch may wait for us.
      if (!running_) continue;
      disturbed_ = true;
      break;
    }
    ++inside_;
  }
  void Leave() {
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0) changed_.notify_all();
  }

  // False: the others did not leave in time.
  bool EnterAlone() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, patience_, [&] { return !IsClosed(); })) return false;
    coming_ = true;
    alone_ = changed_.wait_for(lock, patience_, [&] { return inside_ == 0; });
    coming_ = false;
    running_ = disturbed_ = false;
    if (!alone_) changed_.notify_all();
    return alone_;
  }
  // Around what may wait for others. EndRun: whether nobody came in meanwhile.
  void BeginRun() {
    const std::lock_guard lock(mutex_);
    running_ = true;
  }
  bool EndRun() {
    const std::lock_guard lock(mutex_);
    running_ = false;
    return !disturbed_;
  }
  void LeaveAlone() {
    const std::lock_guard lock(mutex_);
    alone_ = false;
    changed_.notify_all();
  }

 private:
  bool IsClosed() const { return alone_ || coming_; }

  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool coming_ = false;  // waits for those inside
  bool alone_ = false;
  bool running_ = false;
  bool disturbed_ = false;
};

}  // namespace cupilot_host
