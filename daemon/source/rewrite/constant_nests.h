// Nests of loops whose lengths the compiler knows, written out. Pure but for the draft.
#pragma once

#include <vector>

#include "base/result.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

// The outermost loops of nests that can be written out; kUnsupported with the reason where there
// are none. Loops without a loop inside do not count: the compiler unrolls these by itself.
base::Result<std::vector<NodeId>> ConstantNests(const Draft& draft);

// Writes them out.
base::Result<> WriteOutNests(Draft& draft);

}  // namespace cupilot::source
