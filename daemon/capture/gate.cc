#include "capture/gate.h"

namespace cupilot::capture {

void Gate::Enter() {
  for (;;) {
    ++inside_;
    if (!closed_) return;
    Leave();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !closed_; });
  }
}

void Gate::Leave() {
  if (--inside_ > 0 || !closed_) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

bool Gate::Close(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, deadline, [this] { return !closed_; }) || abandoned_) return false;
  closed_ = true;
  if (changed_.wait_until(lock, deadline, [this] { return inside_ == 0; })) return true;
  closed_ = false;
  changed_.notify_all();
  return false;
}

void Gate::Open() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

void Gate::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  closed_ = false;
  changed_.notify_all();
}

}  // namespace cupilot::capture
