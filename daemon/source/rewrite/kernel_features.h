// What kind of kernel it is, from its syntax tree and its heaviest case (records/kernel_features.h
// names the components). Pure; looks at the tree, never at names of the user's.
#pragma once

#include "records/kernel_features.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

// Of the draft as it is: of one that was just opened, of the original. Without its instructions.
records::KernelFeatures FeaturesOf(const Draft& draft);

}  // namespace cupilot::source
