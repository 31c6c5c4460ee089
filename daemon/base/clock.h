// Time as a collaborator, so that tests set it.
#pragma once

#include <chrono>
#include <string>

namespace cupilot::base {

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic; for intervals.
  virtual std::chrono::nanoseconds Now() const = 0;
  // Wall clock, nanoseconds since the Unix epoch; for dates in records.
  virtual std::chrono::nanoseconds WallTime() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds Now() const override;
  std::chrono::nanoseconds WallTime() const override;
};

// "2026-11-21T08:30:00Z"
std::string FormatDate(std::chrono::nanoseconds wall_time);

}  // namespace cupilot::base
