// Code of the device that asks __CUDA_ARCH__: the host device does not define it, since it compiles
// both sides at once, so such code takes the branch for hosts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "source/syntax/tree.h"

namespace cupilot::nvcc {

struct ArchitectureBranch {
  std::string file;
  std::size_t line = 0;  // of the directive
  std::string function;
};

// The first branch on __CUDA_ARCH__ inside each function of the device that is defined in a file of
// the user, in the order of the preprocessed text. Reads these files.
std::vector<ArchitectureBranch> FindArchitectureBranches(const source::Tree& tree);

// One line, "main.cu:3: warning: cupilot: ...".
std::string DescribeBranch(const ArchitectureBranch& branch);

}  // namespace cupilot::nvcc
