// Timers by a clock that is not the system's: when they go off is a function of that clock alone.
// On the loop thread. Only files of this folder include it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/unique_function.h"

namespace cupilot::loop {

class SimulatedTimers {
 public:
  using Key = std::pair<std::chrono::nanoseconds, std::uint64_t>;  // when; in the order of asking

  explicit SimulatedTimers(const base::Clock& clock) : clock_(clock) {}

  std::chrono::nanoseconds Now() const { return clock_.Now(); }
  Key Add(std::chrono::milliseconds delay, base::UniqueFunction<void()> expired) {
    const Key key{clock_.Now() + delay, next_++};
    timers_.emplace(key, std::move(expired));
    return key;
  }
  void Remove(const Key& key) { timers_.erase(key); }
  std::optional<std::chrono::nanoseconds> Next() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first.first;
  }
  // What they begin anew waits for the next call, also where it is due at once.
  void RunDue() {
    const std::uint64_t before = next_;
    const auto now = clock_.Now();
    for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
      if (it->first.second >= before) {
        ++it;
        continue;
      }
      auto expired = std::move(it->second);
      timers_.erase(it);
      expired();
      it = timers_.begin();
    }
  }

 private:
  const base::Clock& clock_;
  std::map<Key, base::UniqueFunction<void()>> timers_;
  std::uint64_t next_ = 0;
};

}  // namespace cupilot::loop
