#include "client/child_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace cupilot::client {
namespace {

// In the child: becomes the program, or says why not through the pipe.
[[noreturn]] void Become(const std::vector<std::string>& words,
                         const std::map<std::string, std::string>& environment, bool quiet,
                         int report) {
  if (quiet) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGQUIT, SIG_DFL);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

std::string ProgramEnd::Text() const {
  if (signal != 0) return std::string("was ended by ") + ::strsignal(signal);
  return "ended with " + std::to_string(exit_code);
}

base::Result<ProgramEnd> RunChildProgram(const std::vector<std::string>& words,
                                         const std::map<std::string, std::string>& environment,
                                         bool quiet) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return base::Fail(base::IoError("pipe"));
  const pid_t child = ::fork();
  if (child == 0) Become(words, environment, quiet, report[1]);
  ::close(report[1]);
  if (child < 0) {
    ::close(report[0]);
    return base::Fail(base::Unavailable(std::string("fork: ") + std::strerror(errno)));
  }
  const auto interrupted = ::signal(SIGINT, SIG_IGN);
  const auto quit = ::signal(SIGQUIT, SIG_IGN);
  int error = 0;
  const bool failed = ::read(report[0], &error, sizeof error) == sizeof error;
  ::close(report[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::signal(SIGINT, interrupted);
  ::signal(SIGQUIT, quit);
  if (failed) {
    return base::Fail(
        base::InvalidArgument(words[0] + ": cannot be started: " + std::strerror(error)));
  }
  ProgramEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

}  // namespace cupilot::client
