#include "source/twin_names.h"

#include <array>
#include <cctype>

namespace cupilot::source {
namespace {

struct Row {
  std::string_view base;  // name of the double function without the f of the float one
  int arguments;
  std::string_view body;  // empty: a call of ::base
};

constexpr std::array<Row, 54> kRows = {{
    {"exp", 1, ""},
    {"expm1", 1, ""},
    {"exp2", 1, ""},
    {"exp10", 1, "::pow(10.0, a)"},
    {"log", 1, ""},
    {"log2", 1, ""},
    {"log10", 1, ""},
    {"log1p", 1, ""},
    {"sqrt", 1, ""},
    {"cbrt", 1, ""},
    {"rsqrt", 1, "1.0 / ::sqrt(a)"},
    {"rcbrt", 1, "1.0 / ::cbrt(a)"},
    {"sin", 1, ""},
    {"cos", 1, ""},
    {"tan", 1, ""},
    {"asin", 1, ""},
    {"acos", 1, ""},
    {"atan", 1, ""},
    {"sinh", 1, ""},
    {"cosh", 1, ""},
    {"tanh", 1, ""},
    {"asinh", 1, ""},
    {"acosh", 1, ""},
    {"atanh", 1, ""},
    {"erf", 1, ""},
    {"erfc", 1, ""},
    {"erfinv", 1, ""},
    {"erfcinv", 1, ""},
    {"tgamma", 1, ""},
    {"lgamma", 1, ""},
    {"normcdf", 1, "0.5 * ::erfc(-a * 0.70710678118654752440)"},
    {"sinpi", 1, "::sin(3.14159265358979323846 * a)"},
    {"cospi", 1, "::cos(3.14159265358979323846 * a)"},
    {"fabs", 1, ""},
    {"floor", 1, ""},
    {"ceil", 1, ""},
    {"round", 1, ""},
    {"trunc", 1, ""},
    {"rint", 1, ""},
    {"nearbyint", 1, ""},
    {"logb", 1, ""},
    {"pow", 2, ""},
    {"fmin", 2, ""},
    {"fmax", 2, ""},
    {"fmod", 2, ""},
    {"remainder", 2, ""},
    {"hypot", 2, ""},
    {"rhypot", 2, "1.0 / ::hypot(a, b)"},
    {"atan2", 2, ""},
    {"copysign", 2, ""},
    {"fdim", 2, ""},
    {"fdivide", 2, "a / b"},
    {"fma", 3, ""},
    {"norm3d", 3, "::sqrt(a * a + b * b + c * c)"},
}};

// Functions whose signature is not double(double, ...).
struct Special {
  std::string_view word;
  std::string_view name;
  std::string_view definition;
};
constexpr std::array<Special, 12> kSpecials = {{
    {"ldexpf", "ldexp", "double cupilot_twin_ldexp(double a, int b) { return ::ldexp(a, b); }"},
    {"scalbnf", "ldexp", "double cupilot_twin_ldexp(double a, int b) { return ::ldexp(a, b); }"},
    {"sincosf", "sincos",
     "void cupilot_twin_sincos(double a, double* s, double* c) { *s = ::sin(a); *c = ::cos(a); }"},
    {"__sincosf", "sincos",
     "void cupilot_twin_sincos(double a, double* s, double* c) { *s = ::sin(a); *c = ::cos(a); }"},
    {"modff", "modf", "double cupilot_twin_modf(double a, double* b) { return ::modf(a, b); }"},
    {"frexpf", "frexp", "double cupilot_twin_frexp(double a, int* b) { return ::frexp(a, b); }"},
    {"lroundf", "lround", "long cupilot_twin_lround(double a) { return ::lround(a); }"},
    {"llroundf", "llround", "long long cupilot_twin_llround(double a) { return ::llround(a); }"},
    {"lrintf", "lrint", "long cupilot_twin_lrint(double a) { return ::lrint(a); }"},
    {"llrintf", "llrint", "long long cupilot_twin_llrint(double a) { return ::llrint(a); }"},
    {"ilogbf", "ilogb", "int cupilot_twin_ilogb(double a) { return ::ilogb(a); }"},
    {"__saturatef", "saturate",
     "double cupilot_twin_saturate(double a) { return ::fmin(::fmax(a, 0.0), 1.0); }"},
}};

// __fadd_rn and its like, for all four roundings: the twin's own rounding is beyond what matters.
constexpr std::array<Row, 8> kRounded = {{
    {"fadd", 2, "a + b"},
    {"fsub", 2, "a - b"},
    {"fmul", 2, "a * b"},
    {"fdiv", 2, "a / b"},
    {"fmaf", 3, "::fma(a, b, c)"},
    {"fsqrt", 1, "::sqrt(a)"},
    {"frsqrt", 1, "1.0 / ::sqrt(a)"},
    {"frcp", 1, "1.0 / a"},
}};

// Conversions of __float2int_rz and __int2float_rn.
struct Conversion {
  std::string_view word;
  std::string_view type;
};
constexpr std::array<Conversion, 4> kIntegers = {
    {{"int", "int"}, {"uint", "unsigned int"}, {"ll", "long long"}, {"ull", "unsigned long long"}}};

constexpr std::string_view kQualifiers = "static inline __host__ __device__ ";

DoubleFunction Define(std::string_view base, int arguments, std::string_view body) {
  DoubleFunction made;
  made.name = "cupilot_twin_" + std::string(base);
  constexpr std::array<std::string_view, 3> kNames = {"a", "b", "c"};
  std::string parameters;
  std::string call;
  for (int i = 0; i < arguments; ++i) {
    const std::string_view name = kNames[static_cast<std::size_t>(i)];
    const char* separator = i == 0 ? "" : ", ";
    parameters.append(separator).append("double ").append(name);
    call.append(separator).append(name);
  }
  const std::string value =
      body.empty() ? "::" + std::string(base) + "(" + call + ")" : std::string(body);
  made.definition = std::string(kQualifiers) + "double " + made.name + "(" + parameters +
                    ") { return " + value + "; }\n";
  return made;
}

DoubleFunction Rounded(std::string_view word) {
  if (!word.starts_with("__") || word.size() < 6) return {};
  const std::string_view mode = word.substr(word.size() - 3);
  if (mode != "_rn" && mode != "_rz" && mode != "_ru" && mode != "_rd") return {};
  const std::string_view stem = word.substr(2, word.size() - 5);
  for (const Row& row : kRounded) {
    if (row.base == stem) return Define(row.base, row.arguments, row.body);
  }
  for (const auto& [name, type] : kIntegers) {
    if (stem == std::string(name) + "2float") {
      DoubleFunction made;
      made.name = "cupilot_twin_from_" + std::string(name);
      made.definition = std::string(kQualifiers) + "double " + made.name + "(" + std::string(type) +
                        " a) { return (double)a; }\n";
      return made;
    }
    if (stem == "float2" + std::string(name)) {
      const std::string_view rounding = mode == "_rn"   ? "::rint(a)"
                                        : mode == "_ru" ? "::ceil(a)"
                                        : mode == "_rd" ? "::floor(a)"
                                                        : "a";
      DoubleFunction made;
      made.name = "cupilot_twin_to_" + std::string(name) + std::string(mode);
      made.definition = std::string(kQualifiers) + std::string(type) + " " + made.name +
                        "(double a) { return (" + std::string(type) + ")" + std::string(rounding) +
                        "; }\n";
      return made;
    }
  }
  return {};
}

bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool IsFloatWord(std::string_view word) {
  return word == "float" ||
         (word.size() == 6 && word.starts_with("float") && word[5] >= '1' && word[5] <= '4');
}

}  // namespace

std::string DoubleType(std::string_view word) {
  if (IsFloatWord(word)) return "double" + std::string(word.substr(5));
  constexpr std::string_view kMake = "make_";
  if (word.starts_with(kMake) && word.size() == 11 && IsFloatWord(word.substr(kMake.size()))) {
    return "make_double" + std::string(word.substr(10));
  }
  return {};
}

bool MentionsFloat(std::string_view canonical) {
  for (std::size_t i = 0; i < canonical.size();) {
    if (!IsWordByte(canonical[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < canonical.size() && IsWordByte(canonical[end])) ++end;
    if (IsFloatWord(canonical.substr(i, end - i))) return true;
    i = end;
  }
  return false;
}

DoubleFunction DoubleOf(std::string_view word) {
  for (const Special& row : kSpecials) {
    if (row.word != word) continue;
    return {"cupilot_twin_" + std::string(row.name),
            std::string(kQualifiers) + std::string(row.definition) + "\n"};
  }
  if (DoubleFunction rounded = Rounded(word); !rounded.name.empty()) return rounded;
  std::string_view stem = word;
  if (stem.starts_with("__builtin_")) {
    stem.remove_prefix(10);
  } else if (stem.starts_with("__")) {
    stem.remove_prefix(2);
  }
  if (!stem.ends_with('f') && word != "fdividef") return {};
  stem.remove_suffix(1);
  for (const Row& row : kRows) {
    if (row.base == stem) return Define(row.base, row.arguments, row.body);
  }
  return {};
}

}  // namespace cupilot::source
