// Does what a command line says: preprocess, lower, compile with the host compiler, link. Runs
// child processes; messages go to standard error as a compiler's.
#pragma once

#include "client/nvcc/command_line.h"

namespace cupilot::nvcc {

// The exit code: that of the first step that failed, else 0.
int RunCommand(const CommandLine& line);

}  // namespace cupilot::nvcc
