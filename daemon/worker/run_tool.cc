#include "worker/run_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/child.h"
#include "base/file.h"
#include "worker/child.h"

namespace cupilot::worker {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t kLogBytes = 4000;

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

// The process group of a tool and of all that it starts. A time limit ends it, and not the worker;
// but who kills the worker kills the worker's group, and knows nothing of this one. So its leader
// is a process that does nothing but wait for the worker's death, of whatever cause, and then takes
// the group with it. (A tool in the worker's own group would need no such process, but at a limit
// its descendants would have to be told from others there, and the orphans among them cannot be. A
// death signal for the tool itself does not reach what it has started.)
class ToolGroup {
 public:
  ToolGroup() {
    const pid_t worker = ::getpid();
    id_ = ::fork();
    if (id_ == 0) GuardGroup(worker);
    if (id_ > 0) ::setpgid(id_, id_);  // it does so too: the tool may come before its first step
  }
  ToolGroup(const ToolGroup&) = delete;
  ToolGroup& operator=(const ToolGroup&) = delete;
  // The guard alone: what a tool has left running on purpose may stay.
  ~ToolGroup() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    base::WaitForEnd(id_);
  }

  pid_t id() const { return id_; }
  void Kill() const { ::kill(-id_, SIGKILL); }

 private:
  pid_t id_ = -1;
};

base::Result<pid_t> StartTool(const std::vector<std::string>& words, const std::string& log,
                              const ToolGroup& group) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  auto pid = StartChild(words, actions, group.id());
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

base::Result<ToolEnd> RunTool(const std::vector<std::string>& words, const std::string& log,
                              milliseconds limit) {
  const ToolGroup group;
  if (group.id() < 0) {
    return base::Fail(base::Unavailable("cannot run " + words[0] + ": " + std::strerror(errno)));
  }
  TRY_ASSIGN(const pid_t pid, StartTool(words, log, group));
  ToolEnd ended;
  int status = 0;
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    const pid_t done = ::waitpid(pid, &status, WNOHANG);
    if (done == pid || (done < 0 && errno != EINTR)) break;
    if (steady_clock::now() > deadline) {
      group.Kill();
      status = base::WaitForEnd(pid);
      ended.timed_out = true;
      break;
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  ended.succeeded = !ended.timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return ended;
}

std::string BeginningOf(const std::string& path) {
  auto text = base::ReadFile(path);
  if (!text) return "";
  if (text->size() > kLogBytes) text->resize(kLogBytes);
  return *text;
}

}  // namespace cupilot::worker
