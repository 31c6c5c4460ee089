// When `cupilot watch` asks the daemon again. Pure: the time is given.
#pragma once

#include <chrono>

namespace cupilot::client {

class RefreshPlan {
 public:
  using Time = std::chrono::nanoseconds;  // of a clock that only goes forward

  // An event came; with `rows`, of one that changes what is known of kernels.
  void OnEvent(bool rows);
  // Now is asked; `rows` as AsksForRows() said.
  void OnAsked(Time now, bool rows);
  // The daemon is at work: what is in work changes without an event.
  void OnAnswered(bool tuning) { tuning_ = tuning; }

  // How long to wait before the next round; 0: now. Never a round within a second of the last one.
  std::chrono::milliseconds UntilDue(Time now) const;
  // Whether the next round asks for the kernels, too, which costs the daemon more.
  bool AsksForRows(Time now) const;

 private:
  bool asked_ = false;
  bool event_ = false;
  bool rows_stale_ = true;
  bool tuning_ = false;
  Time asked_at_{0};
  Time rows_at_{0};
};

}  // namespace cupilot::client
