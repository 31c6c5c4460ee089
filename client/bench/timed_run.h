// One run of a program, timed. Blocking; the caller has no other children that end meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::client {

// What a program counted for one kernel (CUPILOT_STATS), over all of its objects and processes.
struct KernelCounts {
  std::string kernel;
  std::int64_t tuned = 0;     // launches that ran a variant
  std::int64_t outside = 0;   // the guard did not hold, or the launch had to be the original's
  std::int64_t captured = 0;  // into graphs, as the original
  bool on_host = false;
  std::int64_t calls() const { return tuned + outside + captured; }
  bool operator==(const KernelCounts&) const = default;
};

// The lines of a statistics file (source/swap/hook_modes.cc), added up by kernel: the most tuned
// launches first. Lines that are none are passed over.
std::vector<KernelCounts> ParseCounts(const std::string& text);

// How a program is run. Its standard input is empty.
struct Variation {
  bool originals = false;    // of all kernels
  std::string without = {};  // of this kernel, too; empty: of none
  bool counts = false;       // it counts its launches, which takes time
  bool kernel_time = false;  // its kernels are timed, which takes more
};

struct TimedRun {
  double wall_seconds = 0;  // from the start to the end
  double user_seconds =
      0;               // the processors' time in the program, with the children that it awaited
  std::string ending;  // empty: it ended with 0; else how ("ended with 3", "was ended by ...")
  std::string errors;  // the end of its standard error
  std::vector<KernelCounts> counts;
  std::optional<double> kernel_seconds;  // where they were timed and anybody saw a launch
};

// kInvalidArgument if there is no such program, kUnavailable if it cannot be started.
base::Result<TimedRun> RunTimed(const std::vector<std::string>& words, const Variation& variation);

// The file that is run for this word, absolute: found by PATH if it has no slash. Empty: none.
std::string ProgramFile(const std::string& word);

}  // namespace cupilot::client
