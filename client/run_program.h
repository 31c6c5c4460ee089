// Runs a program to its end, with a time limit. Blocking; for doctor's probes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::client {

struct ProgramResult {
  bool ended_well = false;  // exit code 0
  std::string output;       // standard output
};

// `input` is its standard input. kUnavailable if it cannot be started, kTimeout at the limit.
base::Result<ProgramResult> RunProgram(const std::vector<std::string>& words,
                                       const std::string& input, std::chrono::milliseconds limit);

}  // namespace cupilot::client
