// A child process with pipes to its standard input and output, and to its standard error if
// somebody reads that, line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_function.h"
#include "loop/loop.h"

namespace cupilot::loop {

struct ChildOptions {
  std::vector<std::string> arguments;  // program first; found by PATH if it has no slash
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  std::string folder;                                            // working folder; empty: ours
  std::string error_file;  // its standard error is appended here; empty: ours is inherited
  int nice = 0;            // added to our priority
  std::size_t max_line = 256u << 20;    // a longer line ends the process
  bool last_line_may_lack_end = false;  // what its output ends with is a line, as it is
  // Gets the lines of its standard error, in place of `error_file`; also a last one that does not
  // end.
  base::UniqueFunction<void(std::string_view line)> on_error_line;
};

struct ChildExit {
  std::int64_t status = 0;     // exit code
  int signal = 0;              // 0: it exited by itself
  bool line_too_long = false;  // and was ended for it
};

// On the loop thread. No descriptor but 0, 1 and 2 is inherited. Destroying it kills the process
// and its process group, and no callback follows.
class ChildProcess {
 public:
  using LineHandler = base::UniqueFunction<void(std::string_view line)>;  // without the line end
  using ExitHandler = base::UniqueFunction<void(ChildExit exit)>;

  // kUnavailable if it cannot be started. `on_exit` is called once, after the last line.
  static base::Result<std::unique_ptr<ChildProcess>> Start(Loop& loop, ChildOptions options,
                                                           LineHandler on_line,
                                                           ExitHandler on_exit);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // Queues the line and its end; a process that is gone simply does not read it.
  void WriteLine(std::string_view line);
  // Once what was queued is written. No further line is taken.
  void CloseInput();
  // SIGKILL to the process group.
  void Kill();
  int pid() const;

 private:
  struct State;
  explicit ChildProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::loop
