// A compiler run as a child of a build worker: waited for, at most so long.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::worker {

struct ToolEnd {
  bool succeeded = false;
  bool timed_out = false;
};

// `words`: the program's path and its arguments. Its output goes to the file `log`. It runs in a
// process group of its own, so that at the limit its children are killed with it; they are also
// when the calling process dies. kUnavailable: it cannot be started. On the thread that lives as
// long as the process.
base::Result<ToolEnd> RunTool(const std::vector<std::string>& words, const std::string& log,
                              std::chrono::milliseconds limit);

// The first few thousand bytes of a log; empty if there is none.
std::string BeginningOf(const std::string& log);

}  // namespace cupilot::worker
