// A clock that stands until it is told to go on.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace cupilot::test {

class ManualClock final : public base::Clock {
 public:
  // Begins an hour from now, so that the files of the test are old.
  ManualClock() : wall_(base::SystemClock().WallTime() + std::chrono::hours(1)) {}

  std::chrono::nanoseconds Now() const override { return now_; }
  std::chrono::nanoseconds WallTime() const override { return wall_; }

  void Advance(std::chrono::nanoseconds time) {
    now_ += time;
    wall_ += time;
  }

 private:
  std::chrono::nanoseconds now_{0};
  std::chrono::nanoseconds wall_;
};

}  // namespace cupilot::test
