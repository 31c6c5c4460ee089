// Holds the program's calls that write memory of the device or free it, while a launch is recorded.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace cupilot::capture {

// Thread-safe; a thread is inside at most once.
class Gate {
 public:
  // Around a call. Waits while it is closed.
  void Enter();
  void Leave();
  // By a thread that is outside: waits until nobody else has it closed and nobody is inside. False
  // where that takes longer than `patience`: it is not closed then.
  bool Close(std::chrono::milliseconds patience);
  void Open();
  // For good: whoever has it closed may never come back to open it.
  void Abandon();

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> closed_{false};
  bool abandoned_ = false;  // with mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace cupilot::capture
