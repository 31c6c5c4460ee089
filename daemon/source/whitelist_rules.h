// The rules of whitelist.cc that need no tree of the whole: which headers, fast-math intrinsics and
// system functions device code may use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source/syntax/tree.h"

namespace cupilot::source {

// Fast-math intrinsics in `source` that `original` does not use; empty if there are none.
std::string FastMath(std::string_view source, std::string_view original);

// The first of the variant's includes that is not on the fixed list; empty if all are.
std::string ForbiddenInclude(const std::vector<std::string>& includes);

// Whether a function of a system header may be named in device code that also runs on a host:
// device functions of the runtime, constexpr functions, math, memcpy and its like.
bool IsAllowedSystemFunction(const Node& function);
// The same for a call in a template that is bound only when it is instantiated.
bool IsAllowedUnboundName(std::string_view name);
// Whether a type, as clang prints it, is that of a function or holds one: a pointer or reference to
// it, to a member function, or a template's argument.
bool HasFunctionType(std::string_view canonical);
// Built-in variables (threadIdx, ...) and constants.
bool IsAllowedSystemVariable(const Node& variable);

}  // namespace cupilot::source
