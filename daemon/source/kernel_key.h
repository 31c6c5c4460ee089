// A kernel's identity: what it is compiled from, without what does not matter.
#pragma once

#include <string>
#include <vector>

#include "source/closure.h"

namespace cupilot::source {

// Hash of the closure's tokens (no comments, no white space, no tags), of what its names resolved
// to (types with their sizes, overloads by their mangled names) and of the flags that may change
// its code.
std::string KernelKey(const Tree& tree, NodeId kernel, const Closure& closure,
                      const std::vector<std::string>& code_flags);

}  // namespace cupilot::source
