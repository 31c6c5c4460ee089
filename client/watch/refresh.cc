#include "client/watch/refresh.h"

#include <algorithm>

namespace cupilot::client {
namespace {

constexpr std::chrono::seconds kWhileTuning{1};
// A daemon at rest is to use a thousandth of a core at most, and this is only a part of that.
constexpr std::chrono::seconds kAtRest{10};

}  // namespace

void RefreshPlan::OnEvent(bool rows) {
  event_ = true;
  rows_stale_ = rows_stale_ || rows;
}

void RefreshPlan::OnAsked(Time now, bool rows) {
  asked_ = true;
  event_ = false;
  asked_at_ = now;
  if (!rows) return;
  rows_stale_ = false;
  rows_at_ = now;
}

std::chrono::milliseconds RefreshPlan::UntilDue(Time now) const {
  if (!asked_) return std::chrono::milliseconds(0);
  const Time due = asked_at_ + (event_ || tuning_ ? kWhileTuning : kAtRest);
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::ceil<std::chrono::milliseconds>(due - now));
}

bool RefreshPlan::AsksForRows(Time now) const {
  return rows_stale_ || (tuning_ && now - rows_at_ >= kAtRest);
}

}  // namespace cupilot::client
