// Kernels for the techniques that move data through shared memory.
#pragma once

#include <span>

#include "tests/daemon/source/rewrite/technique_cases.h"

namespace cupilot::source {

std::span<const TechniqueCase> SharedMemoryCases();

}  // namespace cupilot::source
