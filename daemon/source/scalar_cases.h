// Branches of a variant for values of a floating scalar. Integers are bounded by the published
// guard, contents by the fills; a floating scalar is neither, so that such a branch is a promise.
#pragma once

#include "records/kernel.h"
#include "records/variant.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// The first comparison below `root` of floating parameters of entries, or of what is computed of
// them alone, with constants, that the original's text does not hold and whose parameters the guard
// does not name; kNone if there is none.
NodeId UnstatedScalarCase(const Tree& tree, NodeId root, const records::Kernel& kernel,
                          const records::Variant& variant);

}  // namespace cupilot::source
