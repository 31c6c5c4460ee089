// Half and bfloat16 in the double twin: classes of their own that hold a double, so that overloads
// and specialisations stay apart as in the original, and the functions that work on them.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::source {

// "__half" -> "cupilot_twin_half", "nv_bfloat162" -> "cupilot_twin_bfloat162"; empty for other
// words.
std::string SmallType(std::string_view word);

// "__hadd" -> "cupilot_twin_hadd", "hexp" -> "cupilot_twin_hexp": what looks like a function of the
// toolkit's on these types; empty for other words. Functions that all types have (atomicAdd,
// shuffles, loads past the cache) keep their names: the twin's are overloads.
std::string SmallFunction(std::string_view word);

// Definitions of types and functions, as CUDA C++11 that follows the toolkit's headers. A function
// that is not among them makes the twin's text invalid.
std::string SmallDefinitions(bool half, bool bfloat16);

}  // namespace cupilot::source
