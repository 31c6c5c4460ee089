// What a library in this process, which cannot be stopped, may take of the processor.
#pragma once

#include <ctime>

namespace cupilot::worker {

// While it lives: all threads of this process together have so many seconds, then
// protocol::kStopSignal ends it. What other programs do meanwhile does not count. 0, or where the
// kernel has no such clock: no limit. Children have none.
class CpuLimit {
 public:
  explicit CpuLimit(double seconds);
  CpuLimit(const CpuLimit&) = delete;
  CpuLimit& operator=(const CpuLimit&) = delete;
  ~CpuLimit();

 private:
  timer_t timer_{};
  bool set_ = false;
};

// Processor time of this process until now, in seconds.
double CpuSeconds();

}  // namespace cupilot::worker
