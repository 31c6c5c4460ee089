#include "tests/support/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace cupilot::test {
namespace {

[[noreturn]] void Become(const std::vector<std::string>& words, const RunOptions& options, int out,
                         int errors) {
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  ::dup2(out, 1);
  ::dup2(errors, 2);
  BecomeProgram(words, options);
}

// Both pipes at once, or a program that fills one while we read the other would wait for ever.
void ReadBoth(int out, int errors, ProgramRun& run) {
  pollfd items[2] = {{out, POLLIN, 0}, {errors, POLLIN, 0}};
  std::string* texts[2] = {&run.output, &run.errors};
  int open = 2;
  char buffer[4096];
  while (open > 0 && ::poll(items, 2, -1) >= 0) {
    for (int i = 0; i < 2; ++i) {
      if (items[i].fd < 0 || items[i].revents == 0) continue;
      const ssize_t count = ::read(items[i].fd, buffer, sizeof buffer);
      if (count > 0) {
        texts[i]->append(buffer, static_cast<std::size_t>(count));
      } else {
        items[i].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

void BecomeProgram(const std::vector<std::string>& words, const RunOptions& options) {
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
  for (const auto& [name, value] : options.environment) {
    if (value.empty()) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  std::perror(arguments[0]);
  ::_exit(127);
}

ProgramRun RunProgram(const std::vector<std::string>& words, const RunOptions& options) {
  ProgramRun run;
  int out[2];
  int errors[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(errors, O_CLOEXEC) != 0) return run;
  const pid_t child = ::fork();
  if (child == 0) Become(words, options, out[1], errors[1]);
  ::close(out[1]);
  ::close(errors[1]);
  ReadBoth(out[0], errors[0], run);
  ::close(out[0]);
  ::close(errors[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

}  // namespace cupilot::test
