#include "worker/run_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/child.h"
#include "base/file.h"
#include "worker/child.h"
#include "worker/tool_group.h"

namespace cupilot::worker {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t kLogBytes = 4000;

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
