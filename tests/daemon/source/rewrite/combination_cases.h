// Kernels for the techniques that combine what several threads or blocks find.
#pragma once

#include <span>

#include "tests/daemon/source/rewrite/technique_cases.h"

namespace cupilot::source {

std::span<const TechniqueCase> CombinationCases();

}  // namespace cupilot::source
