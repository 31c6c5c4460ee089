// Child processes, below the event loop.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cupilot::base {

// Waits for a child of ours, however often a signal interrupts that; its status as of waitpid(), -1
// where there is no such child. Blocks the calling thread.
int WaitForEnd(pid_t pid);

// A child for whose end a thread waits, so that no zombie remains however long nobody asks for it.
// Copies are of the same child; when the last one goes, the thread still waits.
class ReapedChild {
 public:
  ReapedChild() = default;  // no child
  // Takes over a child that nobody else waits for.
  explicit ReapedChild(pid_t pid);

  explicit operator bool() const { return state_ != nullptr; }
  // SIGKILL, if it has not ended.
  void Kill() const;
  // Returns whether it ends within the limit.
  bool WaitFor(std::chrono::milliseconds limit) const;
  // Blocks until it has ended. Returns its status as of waitpid(), -1 if there is no such child.
  int Wait() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// How a child ended, by its status: "ended with 3", "was ended by Aborted".
std::string EndingText(int status);

// A program that runs to its end.
struct ChildRun {
  std::vector<std::string> words;  // the program first, looked for on PATH
  std::string directory = {};      // empty: ours
  // Variables that differ from ours; without a value: unset.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment = {};
};
struct ChildEnd {
  int status = -1;  // as of waitpid()
  std::string output;
  std::string errors;
  bool succeeded() const;
};
// Runs it with its output kept; it is killed if the calling thread ends. False: it could not be
// started. A program that is not there ends with 127. Blocks the calling thread.
bool RunToEnd(ChildRun run, ChildEnd& out);

// What exec and posix_spawn take: views of the words, and a null pointer. They hold as long as the
// words do.
std::vector<char*> ArgumentPointers(std::vector<std::string>& words);

}  // namespace cupilot::base
