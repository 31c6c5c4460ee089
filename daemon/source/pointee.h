// What the pointers lead to that a kernel's parameter points to.
#pragma once

#include "records/kernel.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// Of a parameter that is a pointer to pointers: its pointee, where that is data. Of one to
// structures: whether there are addresses in them. `node` is the parameter's; `parameter.element`
// is known.
void TakePointee(const Tree& tree, const Node& node, records::Parameter& parameter);

}  // namespace cupilot::source
