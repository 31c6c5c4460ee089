#include "worker/tool_group.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "base/child.h"

namespace cupilot::worker {
namespace {

// Only what may be called between fork and exec in a process that has threads.
[[noreturn]] void GuardGroup(pid_t worker) {
  ::setpgid(0, 0);
  ::signal(SIGTERM, SIG_DFL);  // what is ignored is never delivered
  sigset_t end;
  ::sigemptyset(&end);
  ::sigaddset(&end, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &end, nullptr);
  ::close_range(0, ~0u, 0);  // our pipes end with the worker, not with this
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  int got = 0;
  if (::getppid() == worker) ::sigwait(&end, &got);
  ::kill(0, SIGKILL);
  ::_exit(1);
}

}  // namespace

ToolGroup::ToolGroup() {
  const pid_t worker = ::getpid();
  id_ = ::fork();
  if (id_ == 0) GuardGroup(worker);
  if (id_ > 0) ::setpgid(id_, id_);  // it does so too: a tool may come before its first step
}

ToolGroup::~ToolGroup() {
  if (id_ <= 0) return;
  ::kill(id_, SIGKILL);
  base::WaitForEnd(id_);
}

void ToolGroup::End() {
  if (id_ <= 0) return;
  Kill();
  base::WaitForEnd(id_);
  const pid_t group = std::exchange(id_, -1);
  constexpr timespec kPause{0, 2'000'000};
  for (int i = 0; i < 500 && ::kill(-group, 0) == 0; ++i) ::nanosleep(&kPause, nullptr);
}

void ToolGroup::Kill() const {
  if (id_ > 0) ::kill(-id_, SIGKILL);
}

}  // namespace cupilot::worker
