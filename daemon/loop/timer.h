// A timer of the loop.
#pragma once

#include <chrono>
#include <memory>

#include "base/unique_function.h"
#include "loop/loop.h"

namespace cupilot::loop {

// On the loop thread. Destroying it cancels it.
class Timer {
 public:
  explicit Timer(Loop& loop);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  // Calls `expired` once after `delay`; replaces what was running.
  void Start(std::chrono::milliseconds delay, base::UniqueFunction<void()> expired);
  // Calls `expired` every `period`, first after one period.
  void StartRepeating(std::chrono::milliseconds period, base::UniqueFunction<void()> expired);
  void Cancel();
  bool active() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::loop
