// Waiting as a collaborator, so that tests let time pass.
#pragma once

#include <chrono>
#include <memory>

#include "base/unique_function.h"
#include "loop/loop.h"

namespace cupilot::agents {

// Destroying it cancels it.
class Alarm {
 public:
  virtual ~Alarm() = default;
};

// On the loop thread.
class Alarms {
 public:
  virtual ~Alarms() = default;
  // Calls `expired` once, after `delay`, never before this returns. It may destroy its alarm.
  virtual std::unique_ptr<Alarm> After(std::chrono::milliseconds delay,
                                       base::UniqueFunction<void()> expired) = 0;
};

// By the loop's timers.
class LoopAlarms final : public Alarms {
 public:
  explicit LoopAlarms(loop::Loop& loop) : loop_(loop) {}
  std::unique_ptr<Alarm> After(std::chrono::milliseconds delay,
                               base::UniqueFunction<void()> expired) override;

 private:
  loop::Loop& loop_;
};

}  // namespace cupilot::agents
