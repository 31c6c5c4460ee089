#include "client/child_program.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/child.h"

namespace cupilot::client {
namespace {

// In the child: becomes the program, or says why not through the pipe.
[[noreturn]] void Become(char* const* arguments,
                         const std::map<std::string, std::string>& environment, bool quiet,
                         const std::string& folder, int report) {
  if (quiet) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGQUIT, SIG_DFL);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (folder.empty() || ::chdir(folder.c_str()) == 0) ::execvp(arguments[0], arguments);
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

base::Result<int> RunChildProgram(const std::vector<std::string>& words,
                                  const std::map<std::string, std::string>& environment, bool quiet,
                                  EndingSignals& signals, const std::string& folder) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return base::Fail(base::IoError("pipe"));
  std::vector<std::string> copies = words;
  const std::vector<char*> arguments = base::ArgumentPointers(copies);
  const pid_t child = ::fork();
  if (child == 0) Become(arguments.data(), environment, quiet, folder, report[1]);
  ::close(report[1]);
  if (child < 0) {
    ::close(report[0]);
    return base::Fail(base::Unavailable(std::string("fork: ") + std::strerror(errno)));
  }
  signals.SetProgram(child);
  int error = 0;
  const bool failed = ::read(report[0], &error, sizeof error) == sizeof error;
  ::close(report[0]);
  const int status = base::WaitForEnd(child);
  signals.SetProgram(0);
  if (failed) {
    return base::Fail(base::InvalidArgument(words[0] + ": cannot be started" +
                                            (folder.empty() ? "" : " in " + folder) + ": " +
                                            std::strerror(error)));
  }
  return status;
}

}  // namespace cupilot::client
