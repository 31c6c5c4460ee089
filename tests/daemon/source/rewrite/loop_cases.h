// Kernels for the techniques that change what loops and their arithmetic cost.
#pragma once

#include <span>

#include "tests/daemon/source/rewrite/technique_cases.h"

namespace cupilot::source {

std::span<const TechniqueCase> LoopCases();

}  // namespace cupilot::source
