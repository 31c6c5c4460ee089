// What techniques that move data through shared memory ask of an access. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "source/rewrite/draft.h"

namespace cupilot::source {

inline constexpr std::int64_t kDeclaredSharedBytes = 48 * 1024;  // what a kernel may declare

// A type that shared memory can hold without being constructed: arithmetic, or CUDA's vectors.
bool IsSharedElement(const std::string& element);

// The parameter behind a pointer expression that is a name: the parameter's own, or that of a
// variable which keeps a value computed from it. kNone for anything else.
NodeId PointerOf(const Draft& draft, NodeId expression);

// How often a pointer parameter and the variables computed from it are used to reach memory or
// otherwise.
std::size_t UsesOf(const Draft& draft, NodeId pointer);

// An expression that is always evaluated where its statement is: not below a condition, in a loop
// or in a list of its own.
bool IsDoneAlways(const Tree& tree, NodeId expression, NodeId statement);

}  // namespace cupilot::source
