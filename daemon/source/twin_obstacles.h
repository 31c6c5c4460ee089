// What a double twin cannot be made of, found on the tree of the original.
#pragma once

#include <string>

#include "records/kernel.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// Why there is no twin, in one line; empty: nothing is in its way. `doubles`: double is widened,
// too.
std::string ObstacleToTwin(const Tree& tree, const records::Kernel& kernel, bool doubles);

}  // namespace cupilot::source
