#include "child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "worker_bench.h"

extern char** environ;

namespace cupilot::gpu_tests {

using std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

Process::Process(std::vector<std::string> words) {
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) Die("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (::posix_spawnp(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ) != 0) {
    pid_ = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  from_ = out[0];
}

Process::~Process() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  (void)Wait();
  ::close(from_);
}

std::optional<std::string> Process::Line(double limit) {
  const auto end = steady_clock::now() + Seconds(limit);
  for (;;) {
    const std::size_t at = partial_.find('\n');
    if (at != std::string::npos) {
      std::string line = partial_.substr(0, at);
      partial_.erase(0, at + 1);
      return line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    pollfd item{from_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&item, 1, static_cast<int>(left.count())) <= 0) return {};
    char buffer[65536];
    const ssize_t got = ::read(from_, buffer, sizeof buffer);
    if (got <= 0) return {};
    partial_.append(buffer, static_cast<std::size_t>(got));
  }
}

std::string Process::Rest(double limit) {
  std::string text;
  while (const auto line = Line(limit)) text += *line + "\n";
  return text + partial_;
}

int Process::Wait() {
  if (pid_ <= 0) return code_;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool Process::Runs() {
  int status = 0;
  if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) == 0) return pid_ > 0;
  pid_ = -1;
  return false;
}

Ran RunToEnd(std::vector<std::string> words) {
  constexpr const char* kLimit = "15";
  constexpr double kLonger = 20;
  words.insert(words.begin(), {"timeout", kLimit});
  Process process(std::move(words));
  Ran ran;
  ran.output = process.Rest(kLonger);
  ran.code = process.Wait();
  return ran;
}

}  // namespace cupilot::gpu_tests
