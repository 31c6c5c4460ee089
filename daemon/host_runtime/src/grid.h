// The blocks of a cooperative launch, which wait for each other. Each runs on a thread of its own.
#pragma once

#include <condition_variable>
#include <mutex>

namespace cupilot_host {

class Grid {
 public:
  explicit Grid(unsigned long blocks) : blocks_(blocks) {}

  // Returns when all blocks have called it; false if that cannot happen any more.
  bool ArriveAndWait() {
    std::unique_lock lock(mutex_);
    const unsigned long round = round_;
    if (++arrived_ == blocks_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return true;
    }
    Check();
    changed_.wait(lock, [&] { return round_ != round || failed_; });
    return round_ != round;
  }
  // A block has ended, or failed.
  void Leave() {
    const std::lock_guard lock(mutex_);
    ++left_;
    Check();
  }

 private:
  void Check() {
    if (arrived_ == 0 || arrived_ + left_ < blocks_) return;
    failed_ = true;
    changed_.notify_all();
  }

  const unsigned long blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned long arrived_ = 0;
  unsigned long left_ = 0;
  unsigned long round_ = 0;
  bool failed_ = false;
};

// Of this operating-system thread (fibers.cc): the grid that its block belongs to, null for none.
void SetGrid(Grid* grid);
// Frees the fibers that this thread keeps: before it ends.
void DropFibers();

}  // namespace cupilot_host
