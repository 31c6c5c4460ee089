// What a variant's source may contain (design, section 6, "Build"): a whitelist, so that what is
// not known to be device code is refused.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// Not passed, with a reason of a rejection and where it is in the variant's source:
//   forbidden_construct  host code, directives but #pragma unroll, attributes, asm, calls of
//                        anything but the closure, our runtime and math, more than the one
//                        namespace
//   forbidden_numerics   fast-math intrinsics that the original does not use
//                        (instructions: evaluate/new_losses.h)
//   build_failed         it does not parse
//   invalid_launch       a launch names an entry that the source does not define
// An error if the kernel's own text does not parse (kUnsupported) or the parser cannot run. Pure
// but for reading headers; any thread.
base::Result<protocol::CheckVariantReply> CheckVariant(
    const protocol::CheckVariantRequest& request);

// The same rules for a variant in the text of a program, with whatever host code is around it: what
// is wrong with the namespace `name`, whose variant stands at `begin` of the tree's text; empty:
// nothing. What stands beside the namespace is the caller's to look at.
std::string ForbiddenBesideHostCode(const Tree& tree, const std::string& name, std::size_t begin);

}  // namespace cupilot::source
