#include "worker/run_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/file.h"

extern char** environ;

namespace cupilot::worker {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {
constexpr std::size_t kLogBytes = 4000;
}  // namespace

base::Result<ToolEnd> RunTool(const std::vector<std::string>& words, const std::string& log,
                              milliseconds limit) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return base::Fail(base::Unavailable("cannot run " + words[0] + ": " + std::strerror(error)));
  }
  ToolEnd ended;
  int status = 0;
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    const pid_t done = ::waitpid(pid, &status, WNOHANG);
    if (done == pid || (done < 0 && errno != EINTR)) break;
    if (steady_clock::now() > deadline) {
      ::kill(-pid, SIGKILL);
      while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
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
