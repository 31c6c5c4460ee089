// Programs that a test starts: to their end, or beside it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace cupilot::gpu_tests {

// A program whose output is read line by line; it ends with this.
class Process {
 public:
  explicit Process(std::vector<std::string> words);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // The next line; none if it does not come within so many seconds or the output ends.
  std::optional<std::string> Line(double limit);
  // All that it prints until it ends.
  std::string Rest(double limit);
  // Its exit code; -1: a signal, or it could not be started.
  int Wait();
  bool Runs();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int from_ = -1;
  int code_ = -1;
  std::string partial_;
};

struct Ran {
  int code = -1;
  std::string output;
};
// Within 15 seconds.
Ran RunToEnd(std::vector<std::string> words);

}  // namespace cupilot::gpu_tests
