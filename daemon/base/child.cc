#include "base/child.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

namespace cupilot::base {
namespace {

std::string ReadBack(int fd) {
  std::string bytes;
  char block[65536];
  ::lseek(fd, 0, SEEK_SET);
  for (ssize_t got = ::read(fd, block, sizeof block); got > 0;
       got = ::read(fd, block, sizeof block)) {
    bytes.append(block, static_cast<std::size_t>(got));
  }
  return bytes;
}

[[noreturn]] void BecomeChild(ChildRun& run, std::vector<char*>& pointers, int output, int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  if (!run.directory.empty() && ::chdir(run.directory.c_str()) != 0) ::_exit(127);
  for (const auto& [name, value] : run.environment) {
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  ::execvp(pointers[0], pointers.data());
  ::_exit(127);
}

}  // namespace

bool ChildEnd::succeeded() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

bool RunToEnd(ChildRun run, ChildEnd& out) {
  // Files rather than pipes: nobody has to read them while it runs.
  const int output = ::memfd_create("cupilot-output", MFD_CLOEXEC);
  const int errors = ::memfd_create("cupilot-errors", MFD_CLOEXEC);
  std::vector<char*> pointers = ArgumentPointers(run.words);
  const pid_t child = output < 0 || errors < 0 || run.words.empty() ? -1 : ::fork();
  if (child == 0) BecomeChild(run, pointers, output, errors);
  if (child > 0) {
    out.status = WaitForEnd(child);
    out.output = ReadBack(output);
    out.errors = ReadBack(errors);
  }
  if (output >= 0) ::close(output);
  if (errors >= 0) ::close(errors);
  return child > 0;
}

int WaitForEnd(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

struct ReapedChild::State {
  explicit State(pid_t id) : pid(id) {}

  // Its process id is not given to another process while the lock is held and `ended` is false.
  void Reap() {
    siginfo_t info;
    while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    const std::lock_guard lock(mutex);
    status = WaitForEnd(pid);
    ended = true;
    changed.notify_all();
  }

  const pid_t pid;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;  // and these by `mutex`
  int status = -1;
};

ReapedChild::ReapedChild(pid_t pid) : state_(std::make_shared<State>(pid)) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the other threads
  std::thread([state = state_] { state->Reap(); }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ReapedChild::Kill() const {
  if (state_ == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  if (!state_->ended) ::kill(state_->pid, SIGKILL);
}

bool ReapedChild::WaitFor(std::chrono::milliseconds limit) const {
  if (state_ == nullptr) return true;
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, limit, [this] { return state_->ended; });
}

int ReapedChild::Wait() const {
  if (state_ == nullptr) return -1;
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->ended; });
  return state_->status;
}

std::string EndingText(int status) {
  if (WIFSIGNALED(status)) return std::string("was ended by ") + ::strsignal(WTERMSIG(status));
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

std::vector<char*> ArgumentPointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace cupilot::base
