#include "service/idle_exit.h"

#include <algorithm>

namespace cupilot::service {

bool IdleExit::IsTime(const std::string& idle_reason, bool listened_to,
                      std::chrono::nanoseconds now) {
  const bool nothing_to_do =
      idle_reason == "no project" || (rule_ == IdleExitRule::kDone && idle_reason == "done");
  if (!looked_ || listened_to || !nothing_to_do) since_ = now;
  looked_ = true;
  return rule_ != IdleExitRule::kNever && nothing_to_do && !listened_to && now - since_ >= after_;
}

std::chrono::milliseconds IdleExit::period() const {
  using std::chrono::milliseconds;
  if (rule_ == IdleExitRule::kNever) return milliseconds(0);
  // One look a minute is no load; a time shorter than that is kept to by half.
  return std::clamp(std::chrono::duration_cast<milliseconds>(after_ / 2), milliseconds(10),
                    milliseconds(60000));
}

}  // namespace cupilot::service
