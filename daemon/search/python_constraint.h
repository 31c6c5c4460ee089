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

// Numbers, names of parameters (also p["name"]), texts and fractions compared with a parameter that
// has such; and or not, && || ! (as conditions: `(a and 2) < 1` asks for a value), comparisons and
// chains of them, in and not in a list, + - * / // % and ** of a constant, x if c else y, min max
// abs int pow ceil floor, a comment at the end. `/` is exact, as a fraction: its divisor must be
// above 0, else the constraint does not hold, and neither does it where a number is beyond 64 bits;
// % of negative numbers is Python's. With the column, kUnsupported: what cannot be said, or is not
// understood and may be Python all the same; kInvalidArgument: what ends too early, names no
// parameter, or has no meaning in Python. The caller names the constraint.
base::Result<std::string> FromPython(std::string_view text,
                                     const std::vector<SpaceParameter>& parameters);

// The value of an expression without names, such as 2**5. Errors as above; kUnsupported: a
// fraction.
base::Result<std::int64_t> PythonConstant(std::string_view text);

}  // namespace cupilot::search
