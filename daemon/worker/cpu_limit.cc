#include "worker/cpu_limit.h"

#include <cmath>
#include <csignal>

#include "protocol/worker_messages.h"

namespace cupilot::worker {

CpuLimit::CpuLimit(double seconds) {
  if (!(seconds > 0)) return;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = protocol::kStopSignal;
  if (::timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer_) != 0) return;
  set_ = true;
  itimerspec limit{};
  double whole = 0;
  limit.it_value.tv_nsec = static_cast<long>(std::modf(seconds, &whole) * 1e9);
  limit.it_value.tv_sec = static_cast<time_t>(whole);
  (void)::timer_settime(timer_, 0, &limit, nullptr);
}

CpuLimit::~CpuLimit() {
  if (set_) (void)::timer_delete(timer_);
}

double CpuSeconds() {
  timespec time{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace cupilot::worker
