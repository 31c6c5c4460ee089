// The name of what device code is compiled for: the level of x86-64 (System V psABI) that the
// machine and the flags both have.
#pragma once

#include <string>

#include "client/nvcc/command_line.h"

namespace cupilot::nvcc {

// "host-x86-64-v3"
std::string ArchitectureOf(const CommandLine& line);

}  // namespace cupilot::nvcc
