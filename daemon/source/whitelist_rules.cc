#include "source/whitelist_rules.h"

#include <algorithm>
#include <array>
#include <set>

#include "source/swap/variant_text.h"
#include "source/syntax/lexer.h"
#include "source/twin_names.h"
#include "source/whitelist_words.h"

namespace cupilot::source {
namespace {

constexpr std::array<std::string_view, 14> kFastMath = {
    "__expf", "__exp10f", "__logf",     "__log2f",  "__log10f",  "__sinf",  "__cosf",
    "__tanf", "__powf",   "__fdividef", "fdividef", "__sincosf", "__tanhf", "__frcp_approx"};

// Functions that C headers declare without saying that they are device code too.
constexpr std::array<std::string_view, 69> kPlainFunctions = {
    "__assert_fail", "abs",       "labs",   "llabs",   "fabs",      "min",     "max",    "memcpy",
    "memset",        "memmove",   "isnan",  "isinf",   "isfinite",  "signbit", "exp",    "log",
    "sqrt",          "pow",       "sin",    "cos",     "tan",       "tanh",    "floor",  "ceil",
    "fma",           "fmin",      "fmax",   "fmod",    "hypot",     "rsqrt",   "swap",   "ldexp",
    "frexp",         "modf",      "lround", "llround", "ilogb",     "acos",    "asin",   "atan",
    "atan2",         "acosh",     "asinh",  "atanh",   "sinh",      "cosh",    "cbrt",   "copysign",
    "erf",           "erfc",      "exp2",   "exp10",   "expm1",     "fdim",    "lgamma", "tgamma",
    "log10",         "log1p",     "log2",   "logb",    "nearbyint", "rint",    "round",  "trunc",
    "remainder",     "nextafter", "sincos", "rcbrt",   "erfcinv"};

template <std::size_t N>
bool In(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool IsFastMath(std::string_view word) {
  return In(kFastMath, word) || word.starts_with("__nv_fast_") ||
         word.find("approx") != std::string_view::npos ||
         word.find("_ftz") != std::string_view::npos;
}

std::set<std::string_view> Identifiers(std::string_view text) {
  std::set<std::string_view> words;
  for (const Token& token : Lex(text)) {
    if (token.kind == TokenKind::kIdentifier) words.insert(Spelling(text, token));
  }
  return words;
}

bool IsMathHeader(std::string_view header) {
  return header == "math.h" || header == "cmath" || header == "bits/std_abs.h" ||
         header.starts_with("bits/mathcalls") || header.starts_with("bits/specfun") ||
         header.find("math_functions") != std::string_view::npos;
}

}  // namespace

std::string FastMath(std::string_view source, std::string_view original) {
  const std::set<std::string_view> known = Identifiers(original);
  std::string found;
  for (const std::string_view word : Identifiers(source)) {
    if (!IsFastMath(word) || known.contains(word)) continue;
    found += (found.empty() ? "" : ", ") + std::string(word);
  }
  return found;
}

std::string ForbiddenInclude(const std::vector<std::string>& includes) {
  for (const std::string& include : includes) {
    if (!IsKnownHeader(include)) return include;
  }
  return {};
}

bool IsAllowedSystemFunction(const Node& function) {
  if ((function.flags & (kDeviceAttr | kConstexpr)) != 0) return true;
  if (IsMathHeader(function.header)) return true;
  return IsAllowedUnboundName(function.name);
}

bool IsAllowedUnboundName(std::string_view name) {
  if (In(kPlainFunctions, name) || !WideFunctionOf(name, false).name.empty()) return true;
  for (const std::string_view prefix :
       {"__shfl", "__ldg", "__sync", "__ballot", "__any", "__all", "__activemask", "__popc",
        "__clz", "__ffs", "__brev", "__mul", "__umul", "__fma", "__thread", "atomic", "make_",
        "__match"}) {
    if (name.starts_with(prefix)) {
      // __thread... means the fences; the synchronising library functions begin otherwise.
      return true;
    }
  }
  return IsBuiltInOfDevices(name);
}

bool HasFunctionType(std::string_view canonical) {
  for (std::size_t open = canonical.find('('); open != std::string_view::npos;
       open = canonical.find('(', open + 1)) {
    const std::string_view inside = canonical.substr(open + 1);
    int depth = 1;
    std::size_t close = 0;
    for (; close < inside.size() && depth > 0; ++close) {
      depth += inside[close] == '(' ? 1 : inside[close] == ')' ? -1 : 0;
    }
    const char behind = close < inside.size() ? inside[close] : '\0';
    // "float (*)[4]" is an array's, "(Mode)2" a value, "(lambda at ...)" a type without a name.
    const bool declarator = inside.starts_with('*') || inside.starts_with('&') ||
                            inside.substr(0, close).find("::*") != std::string_view::npos;
    if (declarator && behind == '(') return true;
    const bool nameless = inside.starts_with("lambda") || inside.starts_with("anonymous") ||
                          inside.starts_with("unnamed");
    const bool ends =
        behind == '\0' || std::string_view(",> &)").find(behind) != std::string_view::npos;
    if (!declarator && !nameless && ends) return true;
  }
  return false;
}

bool IsAllowedSystemVariable(const Node& variable) {
  for (const std::string_view name : {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}) {
    if (variable.name == name) return true;
  }
  return (variable.flags & (kConstexpr | kConst | kDeviceAttr)) != 0;
}

}  // namespace cupilot::source
