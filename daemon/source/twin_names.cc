#include "source/twin_names.h"

#include <array>
#include <cctype>
#include <vector>

#include "source/twin_small.h"

namespace cupilot::source {
namespace {

struct Row {
  std::string_view base;  // name of the double function without the f of the float one
  int arguments;
  std::string_view body;  // empty: a call of ::base
};

constexpr std::array<Row, 55> kRows = {{
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
    {"normcdf", 1, "0.5 * ::erfc(-a * 0.70710678118654752440084436)"},
    {"sinpi", 1, "::sin(3.14159265358979323846264338 * a)"},
    {"cospi", 1, "::cos(3.14159265358979323846264338 * a)"},
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
    {"rnorm3d", 3, "1.0 / ::sqrt(a * a + b * b + c * c)"},
}};

// Functions whose signature is not double(double, ...). D is the type; functions of the C library
// are written with two colons, and have an l behind their name where D is long double.
struct Special {
  std::string_view base;  // without the f of the float one
  std::string_view definition;
};
constexpr std::array<Special, 14> kSpecials = {{
    {"ldexp", "D cupilot_twin_ldexp(D a, int b) { return ::ldexp(a, b); }"},
    {"scalbn", "D cupilot_twin_scalbn(D a, int b) { return ::scalbn(a, b); }"},
    {"powi", "D cupilot_twin_powi(D a, int b) { return ::pow(a, (D)b); }"},
    {"sincos", "void cupilot_twin_sincos(D a, D* s, D* c) { *s = ::sin(a); *c = ::cos(a); }"},
    {"sincospi",
     "void cupilot_twin_sincospi(D a, D* s, D* c) { *s = ::sin(3.14159265358979323846264338 * a); "
     "*c = ::cos(3.14159265358979323846264338 * a); }"},
    {"modf", "D cupilot_twin_modf(D a, D* b) { return ::modf(a, b); }"},
    {"frexp", "D cupilot_twin_frexp(D a, int* b) { return ::frexp(a, b); }"},
    {"lround", "long cupilot_twin_lround(D a) { return ::lround(a); }"},
    {"llround", "long long cupilot_twin_llround(D a) { return ::llround(a); }"},
    {"lrint", "long cupilot_twin_lrint(D a) { return ::lrint(a); }"},
    {"llrint", "long long cupilot_twin_llrint(D a) { return ::llrint(a); }"},
    {"ilogb", "int cupilot_twin_ilogb(D a) { return ::ilogb(a); }"},
    {"saturate", "D cupilot_twin_saturate(D a) { return ::fmin(::fmax(a, (D)0), (D)1); }"},
    {"norm4d",
     "D cupilot_twin_norm4d(D a, D b, D c, D d) { return ::sqrt(a * a + b * b + c * c + d * d); }"},
}};

// __fadd_rn and its like, for all four roundings: the twin's own rounding is beyond what matters.
constexpr std::array<Row, 16> kRounded = {{
    {"dadd", 2, "a + b"},
    {"dsub", 2, "a - b"},
    {"dmul", 2, "a * b"},
    {"ddiv", 2, "a / b"},
    {"fma", 3, "::fma(a, b, c)"},
    {"dsqrt", 1, "::sqrt(a)"},
    {"drsqrt", 1, "1.0 / ::sqrt(a)"},
    {"drcp", 1, "1.0 / a"},
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

// max, min and their like keep what they were for other types.
constexpr std::string_view kLongDefinitions = R"(
typedef long double cupilot_twin_long;
struct cupilot_twin_long1 { cupilot_twin_long x; };
struct cupilot_twin_long2 { cupilot_twin_long x, y; };
struct cupilot_twin_long3 { cupilot_twin_long x, y, z; };
struct cupilot_twin_long4 { cupilot_twin_long x, y, z, w; };
static inline __host__ __device__ cupilot_twin_long1 cupilot_twin_make_long1(cupilot_twin_long x) {
  cupilot_twin_long1 v = {x};
  return v;
}
static inline __host__ __device__ cupilot_twin_long2 cupilot_twin_make_long2(cupilot_twin_long x, cupilot_twin_long y) {
  cupilot_twin_long2 v = {x, y};
  return v;
}
static inline __host__ __device__ cupilot_twin_long3 cupilot_twin_make_long3(cupilot_twin_long x, cupilot_twin_long y, cupilot_twin_long z) {
  cupilot_twin_long3 v = {x, y, z};
  return v;
}
static inline __host__ __device__ cupilot_twin_long4 cupilot_twin_make_long4(cupilot_twin_long x, cupilot_twin_long y, cupilot_twin_long z, cupilot_twin_long w) {
  cupilot_twin_long4 v = {x, y, z, w};
  return v;
}
static __device__ unsigned int cupilot_twin_lock = 0;
static inline __device__ cupilot_twin_long atomicAdd(cupilot_twin_long* a, cupilot_twin_long b) {
  while (atomicCAS(&cupilot_twin_lock, 0u, 1u) != 0u) {}
  const cupilot_twin_long old = *a;
  *a = old + b;
  __threadfence();
  atomicExch(&cupilot_twin_lock, 0u);
  return old;
}
)";

// Of these, overloads for pairs of types that double and long double are not both; those of other
// types are the toolkit's.
constexpr std::string_view kOfPairs = R"(
static inline __host__ __device__ double cupilot_twin_$(double a, double b) { return ::f$(a, b); }
static inline __host__ __device__ cupilot_twin_long cupilot_twin_$(cupilot_twin_long a, cupilot_twin_long b) { return ::f$l(a, b); }
static inline __host__ __device__ cupilot_twin_long cupilot_twin_$(double a, cupilot_twin_long b) { return ::f$l(a, b); }
static inline __host__ __device__ cupilot_twin_long cupilot_twin_$(cupilot_twin_long a, double b) { return ::f$l(a, b); }
template <class A, class B>
static inline __host__ __device__ auto cupilot_twin_$(A a, B b) -> decltype(::$(a, b)) { return ::$(a, b); }
)";
constexpr std::string_view kOfOne = R"(
static inline __host__ __device__ double cupilot_twin_abs(double a) { return ::fabs(a); }
static inline __host__ __device__ cupilot_twin_long cupilot_twin_abs(cupilot_twin_long a) { return ::fabsl(a); }
template <class A>
static inline __host__ __device__ auto cupilot_twin_abs(A a) -> decltype(::abs(a)) { return ::abs(a); }
)";
// Questions about any type.
constexpr std::array<Special, 4> kQuestions = {{
    {"isnan", "a != a"},
    {"isinf", "a == a && !(a - a == a - a)"},
    {"isfinite", "a - a == a - a"},
    {"signbit", "__builtin_signbit(a) != 0"},
}};

std::string WithMark(std::string_view text, std::string_view by) {
  std::string out;
  for (const char c : text) {
    if (c == '$') {
      out += by;
    } else {
      out += c;
    }
  }
  return out;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "1.0 / ::sqrt(a)" -> "1.0L / ::sqrtl(a)".
std::string LongForm(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    const bool starts = i == 0 || !IsWordByte(text[i - 1]);
    const bool function = text.substr(i).starts_with("::");
    const bool number = starts && IsDigit(text[i]);
    if (function) {
      end = i + 2;
      while (end < text.size() && IsWordByte(text[end])) ++end;
    } else if (number) {
      while (end < text.size() && (IsDigit(text[end]) || text[end] == '.')) ++end;
    }
    const std::string_view part = text.substr(i, end - i);
    out += part;
    if (function) out += 'l';
    if (number && part.find('.') != std::string_view::npos) out += 'L';
    i = end;
  }
  return out;
}

// One function for double, and another for long double.
class Definer {
 public:
  explicit Definer(bool doubles) : doubles_(doubles) {}

  WideFunction OfRow(std::string_view base, int arguments, std::string_view body) const {
    WideFunction made;
    made.name = "cupilot_twin_" + std::string(base);
    std::string call;
    for (int i = 0; i < arguments; ++i) call.append(i == 0 ? "" : ", ").append(1, "abc"[i]);
    const std::string value =
        body.empty() ? "::" + std::string(base) + "(" + call + ")" : std::string(body);
    made.definition = Typed(made.name, "double", arguments, value);
    if (!doubles_) return made;
    made.definition += Typed(made.name, "cupilot_twin_long", arguments, LongForm(value));
    made.definition += Mixed(made.name, arguments);
    return made;
  }

  // `definition` with D for the type.
  WideFunction OfText(std::string_view base, std::string_view definition) const {
    WideFunction made{"cupilot_twin_" + std::string(base), WithType(definition, "double")};
    if (doubles_) made.definition += WithType(LongForm(definition), "cupilot_twin_long");
    return made;
  }

 private:
  static std::string Typed(const std::string& name, const std::string& type, int arguments,
                           const std::string& value) {
    std::string parameters;
    for (int i = 0; i < arguments; ++i) {
      parameters.append(i == 0 ? "" : ", ").append(type + " ").append(1, "abc"[i]);
    }
    return std::string(kQualifiers) + type + " " + name + "(" + parameters + ") { return " + value +
           "; }\n";
  }

  // For arguments that are not all double: integers, and both types together.
  static std::string Mixed(const std::string& name, int arguments) {
    std::string types, parameters, call;
    for (int i = 0; i < arguments; ++i) {
      const char* separator = i == 0 ? "" : ", ";
      types.append(separator).append("class ").append(1, "ABC"[i]);
      parameters.append(separator).append(1, "ABC"[i]).append(" ").append(1, "abc"[i]);
      call.append(separator).append("(cupilot_twin_long)").append(1, "abc"[i]);
    }
    return "template <" + types + ">\n" + std::string(kQualifiers) + "cupilot_twin_long " + name +
           "(" + parameters + ") { return " + name + "(" + call + "); }\n";
  }

  static std::string WithType(std::string_view definition, std::string_view type) {
    std::string out(kQualifiers);
    for (std::size_t i = 0; i < definition.size(); ++i) {
      const bool alone = definition[i] == 'D' && (i == 0 || !IsWordByte(definition[i - 1])) &&
                         (i + 1 == definition.size() || !IsWordByte(definition[i + 1]));
      if (alone) {
        out += type;
      } else {
        out += definition[i];
      }
    }
    return out + "\n";
  }

  const bool doubles_;
};

// Of "__float2int_rd", "__int2double_rn", "__double2float_rn": `from` and `to`, with their
// rounding.
WideFunction Converting(std::string_view stem, std::string_view mode, const Definer& definer,
                        bool doubles) {
  const std::size_t two = stem.find('2');
  if (two == std::string_view::npos) return {};
  const std::string_view from = stem.substr(0, two), to = stem.substr(two + 1);
  const auto wide = [doubles](std::string_view word) {
    return word == "float" || (doubles && word == "double");
  };
  const auto type_of = [](std::string_view word) {
    return word == "float" ? std::string_view("double") : std::string_view("cupilot_twin_long");
  };
  for (const auto& [name, type] : kIntegers) {
    if (from == name && wide(to)) {
      WideFunction made{"cupilot_twin_" + std::string(stem), ""};
      made.definition = std::string(kQualifiers) + std::string(type_of(to)) + " " + made.name +
                        "(" + std::string(type) + " a) { return (" + std::string(type_of(to)) +
                        ")a; }\n";
      return made;
    }
    if (to != name || !wide(from)) continue;
    const std::string_view rounded = mode == "_rn"   ? "::rint(a)"
                                     : mode == "_ru" ? "::ceil(a)"
                                     : mode == "_rd" ? "::floor(a)"
                                                     : "a";
    const std::string base = std::string(stem) + std::string(mode);
    return definer.OfText(base, std::string(type) + " cupilot_twin_" + base + "(D a) { return (" +
                                    std::string(type) + ")" + std::string(rounded) + "; }");
  }
  if (from == "double" && to == "float") {
    const std::string_view type = doubles ? "cupilot_twin_long" : "double";
    WideFunction made{"cupilot_twin_double2float", ""};
    made.definition = std::string(kQualifiers) + "double " + made.name + "(" + std::string(type) +
                      " a) { return (double)a; }\n";
    return made;
  }
  return {};
}

WideFunction Rounded(std::string_view word, const Definer& definer, bool doubles) {
  if (!word.starts_with("__") || word.size() < 6) return {};
  const std::string_view mode = word.substr(word.size() - 3);
  if (mode != "_rn" && mode != "_rz" && mode != "_ru" && mode != "_rd") return {};
  const std::string_view stem = word.substr(2, word.size() - 5);
  for (const Row& row : kRounded) {
    const bool single = row.base.starts_with("f") && row.base != "fma";
    if (row.base == stem && (single || doubles)) {
      return definer.OfRow(row.base, row.arguments, row.body);
    }
  }
  return Converting(stem, mode, definer, doubles);
}

// Names that both types have, and macros of the C library: only with `doubles`.
WideFunction OfAnyType(std::string_view word) {
  if (word == "max" || word == "min") {
    return {"cupilot_twin_" + std::string(word), WithMark(kOfPairs, word)};
  }
  if (word == "abs") return {"cupilot_twin_abs", std::string(kOfOne)};
  for (const Special& question : kQuestions) {
    if (question.base != word) continue;
    const std::string name = "cupilot_twin_" + std::string(word);
    return {name, "template <class A>\n" + std::string(kQualifiers) + "bool " + name +
                      "(A a) { return " + std::string(question.definition) + "; }\n"};
  }
  return {};
}

struct Word {
  std::string_view name;
  Format format;
};
constexpr std::array<Word, 6> kWords = {{{"float", Format::kFloat},
                                         {"double", Format::kDouble},
                                         {"__half", Format::kHalf},
                                         {"half", Format::kHalf},
                                         {"__nv_bfloat16", Format::kBfloat16},
                                         {"nv_bfloat16", Format::kBfloat16}}};

Format FormatOfWord(std::string_view word) {
  for (const Word& known : kWords) {
    if (word == known.name) return known.format;
    if (word.size() == known.name.size() + 1 && word.starts_with(known.name) &&
        word.back() >= '1' && word.back() <= '4') {
      return known.format;
    }
  }
  return Format::kNoFormat;
}

std::vector<Format> FormatsOf(std::string_view canonical) {
  std::vector<Format> formats;
  for (std::size_t i = 0; i < canonical.size();) {
    std::size_t end = i + 1;
    if (IsWordByte(canonical[i])) {
      while (end < canonical.size() && IsWordByte(canonical[end])) ++end;
      const Format format = FormatOfWord(canonical.substr(i, end - i));
      const bool longer = canonical.substr(0, i).ends_with("long ");  // the twin's
      if (format != Format::kNoFormat && !longer) formats.push_back(format);
    }
    i = end;
  }
  return formats;
}

// Of "float4": "4".
std::string LanesOf(std::string_view word, std::string_view scalar) {
  return std::string(word.substr(scalar.size()));
}

}  // namespace

int SignificandBits(Format format) {
  constexpr std::array<int, 5> kBits = {0, 8, 11, 24, 53};
  return kBits[static_cast<std::size_t>(format)];
}

Format FormatOf(std::string_view canonical) {
  const std::vector<Format> formats = FormatsOf(canonical);
  return formats.empty() ? Format::kNoFormat : formats.front();
}

bool MentionsFormat(std::string_view canonical, Format format) {
  for (const Format found : FormatsOf(canonical)) {
    if (found == format) return true;
  }
  return false;
}

bool MentionsWidened(std::string_view canonical, bool doubles) {
  for (const Format found : FormatsOf(canonical)) {
    if (found != Format::kDouble || doubles) return true;
  }
  return false;
}

std::string WideType(std::string_view word, bool doubles) {
  if (std::string small = SmallType(word); !small.empty()) return small;
  std::string_view name = word;
  const bool make = name.starts_with("make_");
  if (make) name.remove_prefix(5);
  const Format format = FormatOfWord(name);
  if (format == Format::kFloat) {
    const std::string lanes = LanesOf(name, "float");
    if (make && lanes.empty()) return {};
    return (make ? "make_double" : "double") + lanes;
  }
  if (format == Format::kDouble && doubles) {
    const std::string lanes = LanesOf(name, "double");
    if (make && lanes.empty()) return {};
    return (make ? "cupilot_twin_make_long" : "cupilot_twin_long") + lanes;
  }
  return {};
}

WideFunction WideFunctionOf(std::string_view word, bool doubles) {
  const Definer definer(doubles);
  if (WideFunction made = Rounded(word, definer, doubles); !made.name.empty()) return made;
  std::string_view stem = word;
  if (stem.starts_with("__builtin_")) {
    stem.remove_prefix(10);
  } else if (stem.starts_with("__")) {
    stem.remove_prefix(2);
  }
  const bool single = stem.ends_with('f') && stem != "erf" && stem != "modf";
  if (single) stem.remove_suffix(1);
  if (!single && !doubles) return {};
  for (const Row& row : kRows) {
    if (row.base == stem) return definer.OfRow(row.base, row.arguments, row.body);
  }
  for (const Special& row : kSpecials) {
    if (row.base == stem) return definer.OfText(row.base, row.definition);
  }
  return doubles && word == stem ? OfAnyType(word) : WideFunction{};
}

std::string LongDefinitions() { return std::string(kLongDefinitions); }

}  // namespace cupilot::source
