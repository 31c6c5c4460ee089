// Whether what a launch passes is what its entry takes: the evaluation would write other bytes than
// the entry reads, and the hook would not compile.
#pragma once

#include <string>

#include "records/kernel.h"
#include "records/variant.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// What does not fit ("entry 'g', argument 5: ..."), empty if all does. `entry` is the function of
// `tree` that the launch names.
std::string WrongArguments(const Tree& tree, NodeId entry, const records::Kernel& kernel,
                           const records::Variant& variant, const records::Launch& launch);

}  // namespace cupilot::source
