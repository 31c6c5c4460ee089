#include "base/clock.h"

#include <array>
#include <ctime>

namespace cupilot::base {

std::chrono::nanoseconds SystemClock::Now() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::chrono::nanoseconds SystemClock::WallTime() const {
  return std::chrono::system_clock::now().time_since_epoch();
}

std::string FormatDate(std::chrono::nanoseconds wall_time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(wall_time);
  const std::time_t time = seconds.count();
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return {};
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace cupilot::base
