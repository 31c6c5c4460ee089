// Constraints of other autotuners' files, which are expressions of Python, as launch expressions
// (records/expression.h). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/space.h"

namespace cupilot::search {

// Numbers, names of parameters (also p["name"]), texts compared with a parameter that has texts;
// and or not, && || !, comparisons and chains of them, in and not in a list, + - * / // % and ** of
// a constant, x if c else y, min max abs int pow ceil floor. `/` is exact, as a fraction: its
// divisor must be above 0, else the constraint does not hold; % of negative numbers is Python's.
// kInvalidArgument or, of what cannot be said, kUnsupported; with the column. The caller names the
// constraint.
base::Result<std::string> FromPython(std::string_view text,
                                     const std::vector<SpaceParameter>& parameters);

// The value of an expression without names, such as 2**5. Errors as above; kUnsupported: a
// fraction.
base::Result<std::int64_t> PythonConstant(std::string_view text);

}  // namespace cupilot::search
