// The kernels of differential/program.cu with variants as the techniques make them, and guards as
// they are published.
#pragma once

#include <string>
#include <vector>

#include "source/swap/swapped_source.h"

namespace cupilot::source {

// `wrong`: one variant of blend leaves out an element now and then; what compares must find it.
SwapRequest DifferentialRequest(const std::string& source, const std::vector<std::string>& targets,
                                bool wrong);

}  // namespace cupilot::source
