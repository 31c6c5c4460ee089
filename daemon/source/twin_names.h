// What float functions and types are called in double; the table behind twin.cc.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::source {

// "float4" -> "double4", "make_float2" -> "make_double2"; empty for other words.
std::string DoubleType(std::string_view word);

// Whether a canonical type mentions float or a vector of float as a word.
bool MentionsFloat(std::string_view canonical);

struct DoubleFunction {
  std::string name;        // cupilot_twin_exp; empty: `word` is no float function that we know
  std::string definition;  // of that function, as a line of CUDA C++
};
// For "expf", "__expf", "__builtin_expf", "__fmul_rn", "__float2int_rd", ... The function takes and
// gives double where the original has float, so that arguments convert as they did.
DoubleFunction DoubleOf(std::string_view word);

}  // namespace cupilot::source
