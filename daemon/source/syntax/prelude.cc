#include "source/syntax/prelude.h"

#include <string_view>

namespace cupilot::source {
namespace {

// clang binds `k<<<...>>>` to a function of this name while no toolkit version is given. Variadic,
// so that the configuration's expressions stay as written.
constexpr std::string_view kLaunch = "extern \"C\" int cudaConfigureCall(...);\n";

// Built-ins of g++ that libstdc++ 12 to 14 uses and clang 19 lacks; the qualifiers that Preprocess
// leaves as they were written.
constexpr std::string_view kPreprocessed = R"(
template <template <decltype(sizeof(0))...> class C> struct __cupilot_sizes {
  template <class T, T... I> using make = C<I...>;
};
template <template <decltype(sizeof(0))...> class C, decltype(sizeof(0)) N>
using __cupilot_tuple =
    __make_integer_seq<__cupilot_sizes<C>::template make, decltype(sizeof(0)), N>;
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) __attribute__((managed))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_va_arg_pack() 0
#define __builtin_va_arg_pack_len() 0
)";

// Overwrites the text at `at` and fills up with spaces; line ends inside the old text stay.
void Overwrite(std::string& text, std::size_t at, std::size_t length, std::string_view with) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (text[at + i] == '\n') continue;
    text[at + i] = used < with.size() ? with[used++] : ' ';
  }
}

}  // namespace

std::string Prelude(bool preprocessed) {
  std::string prelude(kLaunch);
  if (preprocessed) prelude += kPreprocessed;
  return prelude;
}

void PatchForClang(std::string& text) {
  constexpr std::string_view kSequence = "integer_sequence<_Tp, __integer_pack(_Num)...>";
  constexpr std::string_view kTuple = "_Index_tuple<__integer_pack(_Num)...>";
  for (std::size_t at = text.find("__integer_pack("); at != std::string::npos;
       at = text.find("__integer_pack(", at + 1)) {
    const std::size_t sequence = at - std::min(at, kSequence.find("__integer_pack"));
    if (text.compare(sequence, kSequence.size(), kSequence) == 0) {
      Overwrite(text, sequence, kSequence.size(), "__make_integer_seq<integer_sequence,_Tp,_Num>");
      continue;
    }
    const std::size_t tuple = at - std::min(at, kTuple.find("__integer_pack"));
    if (text.compare(tuple, kTuple.size(), kTuple) == 0) {
      Overwrite(text, tuple, kTuple.size(), "__cupilot_tuple<_Index_tuple, _Num>");
    }
  }
}

void PatchLaunches(std::string& text) {
  for (std::size_t at = text.find("<<<"); at != std::string::npos; at = text.find("<<<", at + 3)) {
    int depth = 0;
    bool first = true;                      // of an expression of the configuration
    std::size_t brace = std::string::npos;  // where one begins with a brace
    for (std::size_t i = at + 3; i < text.size(); ++i) {
      const char c = text[i];
      if (c == ';' || (depth == 0 && text.compare(i, 3, ">>>") == 0)) break;
      if (first && c == '{') brace = i;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (c == '}' && depth == 0 && brace != std::string::npos) {
        const bool empty = text.find_first_not_of(" \t\r\n", brace + 1) == i;
        if (!empty) {
          text[brace] = '(';
          text[i] = ')';
        }
        brace = std::string::npos;
      }
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') first = depth == 0 && c == ',';
    }
  }
}

}  // namespace cupilot::source
