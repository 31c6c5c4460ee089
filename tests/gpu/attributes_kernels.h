// app::staged of swap/attributes.cu with a variant that needs more shared memory, and app::through
// with one that needs a workspace.
#pragma once

#include <string>
#include <vector>

#include "source/swap/swapped_source.h"

namespace cupilot::source {

SwapRequest AttributesRequest(const std::string& source, const std::vector<std::string>& targets);
// " -DSTAGED_VARIANT=... -DSTAGED_OBJECT=...": how the program names the variant of staged.
std::string AttributesDefinitions(const SwapRequest& request);

}  // namespace cupilot::source
