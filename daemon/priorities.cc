#include "priorities.h"

#include <linux/ioprio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cupilot {
namespace {

constexpr int kDaemonNice = 5;
constexpr int kLowest = 7;  // of the eight levels of best effort

}  // namespace

void GiveWay(service::IoClass io) {
  // Who starts it with less, keeps that.
  if (::getpriority(PRIO_PROCESS, 0) < kDaemonNice) {
    (void)::setpriority(PRIO_PROCESS, 0, kDaemonNice);
  }
  if (io == service::IoClass::kNormal) return;
  const int priority = io == service::IoClass::kIdle ? IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)
                                                     : IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, kLowest);
  (void)::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, priority);
}

}  // namespace cupilot
