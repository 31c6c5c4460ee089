#include "client/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/child.h"
#include "base/file.h"
#include "loop/zmq_client.h"

namespace cupilot::client {
namespace {

using std::chrono::steady_clock;

constexpr int kStartLimitMs = 15000;  // 200 ms is the rule; a busy machine may be slow
constexpr std::chrono::milliseconds kOtherInstance{300};
constexpr int kLookAgainMs = 5;
constexpr std::size_t kMostReason = 2000;

[[noreturn]] void BecomeDaemon(const std::string& program, const std::string& log) {
  setsid();
  const int null = open("/dev/null", O_RDWR);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  dup2(null, STDIN_FILENO);
  dup2(out < 0 ? null : out, STDOUT_FILENO);
  dup2(out < 0 ? null : out, STDERR_FILENO);
  closefrom(3);
  if (chdir("/") != 0) _exit(1);
  execl(program.c_str(), program.c_str(), nullptr);
  std::fprintf(stderr, "%s: %s\n", program.c_str(), std::strerror(errno));
  _exit(127);
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
  if (!base::FileExists(program)) {
    return base::Fail(base::Unavailable("the daemon's program is missing: " + program +
                                        "; install cuPilot again, or set CUPILOT_DAEMON"));
  }
  TRY(base::MakePrivateFolder(folders.state));
  const std::string log = StartLog(folders);
  const pid_t child = ::fork();
  if (child < 0) {
    return base::Fail(base::Unavailable(std::string("fork: ") + std::strerror(errno)));
  }
  if (child == 0) BecomeDaemon(program, log);
  // The program detaches itself and ends: with 0 once it serves, else with the reason in its log.
  if (!WaitForEnd(child, kStartLimitMs)) {
    return base::Fail(base::Unavailable("the daemon was started (process " + std::to_string(child) +
                                        ") but was not ready in time: " + ReasonIn(log)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  // It also ends where another instance is just being started: that one will serve soon.
  const auto limit = steady_clock::now() + kOtherInstance;
  while (!DaemonServes(folders)) {
    if (steady_clock::now() > limit) {
      return base::Fail(base::Unavailable("the daemon did not start (" + program + " " +
                                          base::EndingText(status) + "): " + ReasonIn(log)));
    }
    ::poll(nullptr, 0, kLookAgainMs);
  }
  return {};
}

}  // namespace cupilot::client
