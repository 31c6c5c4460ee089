// Child processes, below the event loop.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cupilot::base {

// Waits for a child of ours, however often a signal interrupts that; its status as of waitpid(), -1
// where there is no such child. Blocks the calling thread.
int WaitForEnd(pid_t pid);

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
