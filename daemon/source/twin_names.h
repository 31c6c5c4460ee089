// What floating types and functions are called in the double twin; the tables behind twin.cc.
//
// Of a kernel whose widest arithmetic is single precision or less, the twin computes in double.
// Where it is double (`doubles`), the twin of double is long double, which only the host device
// has, and that of float is double.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::source {

inline bool HasPart(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

enum class Format { kNoFormat, kBfloat16, kHalf, kFloat, kDouble };

// Bits of the significand, the one that is not stored too: 8, 11, 24, 53; 0 for kNoFormat.
int SignificandBits(Format format);

// Of the first floating word in a canonical type: "const float4 *" is kFloat.
Format FormatOf(std::string_view canonical);
// Whether a canonical type mentions a type that the twin exchanges.
bool MentionsWidened(std::string_view canonical, bool doubles);
// Whether it mentions `format`, or vectors of it.
bool MentionsFormat(std::string_view canonical, Format format);

// "float4" -> "double4", "make_float2" -> "make_double2", "__half" -> "cupilot_twin_half"; empty
// for words that stay.
std::string WideType(std::string_view word, bool doubles);

struct WideFunction {
  std::string name;        // cupilot_twin_exp; empty: `word` is no function that we know
  std::string definition;  // of that function, as lines of CUDA C++
};
// For "expf", "__expf", "__builtin_expf", "__fmul_rn", "__float2int_rd", ... The function takes and
// gives double where the original has float, so that arguments convert as they did. With `doubles`
// also for "exp", "__dmul_rn", "max", ...: overloads of long double beside those of double.
WideFunction WideFunctionOf(std::string_view word, bool doubles);

// Types that other definitions need, behind the toolkit's headers.
std::string LongDefinitions();

}  // namespace cupilot::source
