#include "client/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/child.h"
#include "base/file.h"
#include "client/scope.h"
#include "loop/zmq_client.h"

namespace cupilot::client {
namespace {

using std::chrono::steady_clock;

constexpr int kStartLimitMs = 15000;  // 200 ms is the rule; a busy machine may be slow
constexpr std::chrono::milliseconds kOtherInstance{300};
constexpr int kLookAgainMs = 5;
constexpr int kTakeOverLimitMs = 5000;  // then the older daemon answers until it has ended
constexpr std::size_t kMostReason = 2000;

// `words`: the program first, found by PATH if it has no slash.
[[noreturn]] void BecomeDaemon(std::vector<std::string> words, const std::string& log) {
  const std::vector<char*> arguments = base::ArgumentPointers(words);
  setsid();
  const int null = open("/dev/null", O_RDWR);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  dup2(null, STDIN_FILENO);
  dup2(out < 0 ? null : out, STDOUT_FILENO);
  dup2(out < 0 ? null : out, STDERR_FILENO);
  closefrom(3);
  if (chdir("/") != 0) _exit(1);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "%s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

struct Starter {
  bool ended = false;  // within the limit
  int status = 0;      // as of waitpid()
  pid_t pid = 0;
};

// The program detaches itself and ends: with 0 once it serves, else with the reason in its log.
base::Result<Starter> RunStarter(const std::vector<std::string>& words, const std::string& log,
                                 int limit_ms) {
  Starter starter;
  starter.pid = ::fork();
  if (starter.pid < 0) {
    return base::Fail(base::Unavailable(std::string("fork: ") + std::strerror(errno)));
  }
  if (starter.pid == 0) BecomeDaemon(words, log);
  const base::ReapedChild child(starter.pid);
  starter.ended = child.WaitFor(std::chrono::milliseconds(limit_ms));
  if (starter.ended) starter.status = child.Wait();
  return starter;
}

// What our program ends with by itself; all else came from systemd-run.
bool IsDaemons(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
}

// In a scope where there may be one, else, or where that fails, plainly.
base::Result<Starter> Start(const base::UserFolders& folders, std::vector<std::string> words,
                            int limit_ms) {
  if (!base::FileExists(words[0])) {
    return base::Fail(base::Unavailable("the daemon's program is missing: " + words[0] +
                                        "; install cuPilot again, or set CUPILOT_DAEMON"));
  }
  TRY(base::MakePrivateFolder(folders.state));
  const std::string log = StartLog(folders);
  std::vector<std::string> scoped = ScopeWords(folders);
  if (!scoped.empty()) {
    scoped.insert(scoped.end(), words.begin(), words.end());
    TRY_ASSIGN(const Starter starter, RunStarter(scoped, log, limit_ms));
    if (!starter.ended || IsDaemons(starter.status)) return starter;
  }
  return RunStarter(words, log, limit_ms);
}

std::string ReasonIn(const std::string& log) {
  const auto text = base::ReadFile(log);
  if (!text || text->empty()) return "it gave no reason; " + log + " is empty";
  std::string reason =
      text->size() > kMostReason ? text->substr(text->size() - kMostReason) : *text;
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  return reason;
}

}  // namespace

std::string DaemonProgram() {
  const char* set = std::getenv("CUPILOT_DAEMON");
  if (set != nullptr && set[0] != '\0') return set;
  return base::ExecutableFolder() + "/cupilotd";
}

std::string SocketPath(const base::UserFolders& folders) {
  return folders.runtime + "/daemon.sock";
}

std::string DaemonLog(const base::UserFolders& folders) { return folders.state + "/daemon.log"; }

std::string StartLog(const base::UserFolders& folders) { return folders.state + "/start.log"; }

bool DaemonRuns(const base::UserFolders& folders) {
  const int file =
      ::open((folders.state + "/daemon.lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  const bool held = ::flock(file, LOCK_SH | LOCK_NB) != 0;
  ::close(file);
  return held;
}

bool DaemonServes(const base::UserFolders& folders) {
  return loop::ZmqClient::Connect(SocketPath(folders)).has_value();
}

bool MayStartOnDemand() { return std::getenv("CUPILOT_NO_SPAWN") == nullptr; }

bool WaitForEnd(int pid, int limit_ms) {
  const int file = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (file < 0) return errno == ESRCH;
  pollfd item{file, POLLIN, 0};
  const int ended = ::poll(&item, 1, limit_ms);
  ::close(file);
  return ended == 1;
}

base::Result<> StartDaemon(const base::UserFolders& folders) {
  const std::string program = DaemonProgram();
  TRY_ASSIGN(const Starter starter, Start(folders, {program}, kStartLimitMs));
  if (!starter.ended) {
    return base::Fail(
        base::Unavailable("the daemon was started (process " + std::to_string(starter.pid) +
                          ") but was not ready in time: " + ReasonIn(StartLog(folders))));
  }
  // It also ends where another instance is just being started: that one will serve soon.
  const auto limit = steady_clock::now() + kOtherInstance;
  while (!DaemonServes(folders)) {
    if (steady_clock::now() > limit) {
      return base::Fail(base::Unavailable("the daemon did not start (" + program + " " +
                                          base::EndingText(starter.status) +
                                          "): " + ReasonIn(StartLog(folders))));
    }
    ::poll(nullptr, 0, kLookAgainMs);
  }
  return {};
}

base::Result<bool> StartNextDaemon(const base::UserFolders& folders) {
  TRY_ASSIGN(const Starter starter,
             Start(folders, {DaemonProgram(), "--take-over"}, kTakeOverLimitMs));
  return starter.ended && WIFEXITED(starter.status) && WEXITSTATUS(starter.status) == 0;
}

}  // namespace cupilot::client
