#include "priorities.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cupilot {
namespace {

constexpr int kDaemonNice = 5;
// ioprio_set(2), whose header some kernel versions write in C alone: the class lies above 13 bits
// for the level in it, of which best effort has eight.
constexpr int kOneProcess = 1, kBestEffort = 2, kIdle = 3, kClassShift = 13, kLowestLevel = 7;

}  // namespace

void GiveWay(service::IoClass io) {
  // Who starts it with less, keeps that.
  if (::getpriority(PRIO_PROCESS, 0) < kDaemonNice) {
    (void)::setpriority(PRIO_PROCESS, 0, kDaemonNice);
  }
  if (io == service::IoClass::kNormal) return;
  const int priority = io == service::IoClass::kIdle ? kIdle << kClassShift
                                                     : (kBestEffort << kClassShift) | kLowestLevel;
  (void)::syscall(SYS_ioprio_set, kOneProcess, 0, priority);
}

}  // namespace cupilot
