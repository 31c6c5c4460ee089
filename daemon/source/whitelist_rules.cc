#include "source/whitelist_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "source/syntax/lexer.h"
#include "source/twin_names.h"

namespace cupilot::source {
namespace {

constexpr std::array<std::string_view, 24> kHostWords = {
    "asm",        "__asm",    "__asm__",      "_Pragma",   "__pragma",     "new",
    "delete",     "throw",    "try",          "catch",     "thread_local", "__thread",
    "virtual",    "typeid",   "dynamic_cast", "friend",    "__host__",     "__managed__",
    "__declspec", "co_await", "co_yield",     "co_return", "export",       "namespace"};

// Inside __attribute__((...)): what the runtime's own macros expand to.
constexpr std::array<std::string_view, 12> kAttributes = {
    "global",        "device",       "shared",  "constant",    "launch_bounds", "noinline",
    "always_inline", "__noinline__", "aligned", "__aligned__", "unused",        "__unused__"};
constexpr std::array<std::string_view, 6> kStandardAttributes = {
    "nodiscard", "maybe_unused", "likely", "unlikely", "fallthrough", "no_unique_address"};

constexpr std::array<std::string_view, 17> kIncludes = {"cuda_runtime.h",
                                                        "cuda_fp16.h",
                                                        "cuda_bf16.h",
                                                        "cuda_fp8.h",
                                                        "mma.h",
                                                        "math_constants.h",
                                                        "cuda_pipeline.h",
                                                        "cooperative_groups.h",
                                                        "cooperative_groups/reduce.h",
                                                        "cooperative_groups/scan.h",
                                                        "cooperative_groups/memcpy_async.h",
                                                        "cuda/atomic",
                                                        "cuda/barrier",
                                                        "cuda/pipeline",
                                                        "cstdint",
                                                        "cmath",
                                                        "cfloat"};

constexpr std::array<std::string_view, 14> kFastMath = {
    "__expf", "__exp10f", "__logf",     "__log2f",  "__log10f",  "__sinf",  "__cosf",
    "__tanf", "__powf",   "__fdividef", "fdividef", "__sincosf", "__tanhf", "__frcp_approx"};

// Functions that C headers declare without saying that they are device code too.
constexpr std::array<std::string_view, 68> kPlainFunctions = {
    "abs",       "labs",   "llabs",   "fabs",      "min",     "max",    "memcpy",   "memset",
    "memmove",   "isnan",  "isinf",   "isfinite",  "signbit", "exp",    "log",      "sqrt",
    "pow",       "sin",    "cos",     "tan",       "tanh",    "floor",  "ceil",     "fma",
    "fmin",      "fmax",   "fmod",    "hypot",     "rsqrt",   "swap",   "ldexp",    "frexp",
    "modf",      "lround", "llround", "ilogb",     "acos",    "asin",   "atan",     "atan2",
    "acosh",     "asinh",  "atanh",   "sinh",      "cosh",    "cbrt",   "copysign", "erf",
    "erfc",      "exp2",   "exp10",   "expm1",     "fdim",    "lgamma", "tgamma",   "log10",
    "log1p",     "log2",   "logb",    "nearbyint", "rint",    "round",  "trunc",    "remainder",
    "nextafter", "sincos", "rcbrt",   "erfcinv"};

template <std::size_t N>
bool In(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string At(std::string_view source, std::uint32_t offset, const std::string& what) {
  const auto line = std::count(source.begin(), source.begin() + offset, '\n') + 1;
  return "line " + std::to_string(line) + " of the variant: " + what;
}

// "#pragma unroll", "#pragma unroll 4", "#pragma unroll(N)", "#pragma nounroll": what kernels are
// written with, and no more than a hint. No '/': a comment that began here would go on behind it.
bool IsUnrollHint(std::string_view directive) {
  std::string_view rest = directive;
  const auto take = [&rest](std::string_view word) {
    while (rest.starts_with(' ') || rest.starts_with('\t')) rest.remove_prefix(1);
    if (!rest.starts_with(word)) return false;
    rest.remove_prefix(word.size());
    return true;
  };
  if (!take("#") || !take("pragma")) return false;
  if (!take("unroll") && !take("nounroll")) return false;
  if (!rest.empty() && (std::isalnum(static_cast<unsigned char>(rest[0])) != 0 || rest[0] == '_'))
    return false;
  return std::all_of(rest.begin(), rest.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_ \t\r()+-*").find(c) != std::string_view::npos;
  });
}

class Words {
 public:
  explicit Words(std::string_view source) : source_(source), tokens_(Lex(source)) {}

  std::string Check() {
    const std::size_t splice = source_.find("\\\n");
    if (splice != std::string_view::npos) {
      return At(source_, static_cast<std::uint32_t>(splice), "a spliced line");
    }
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      std::string wrong = CheckToken(i);
      if (!wrong.empty()) return At(source_, tokens_[i].begin, wrong);
    }
    if (!open_.empty()) return "an opening bracket is not closed";
    return {};
  }

 private:
  std::string_view Word(std::size_t index) const {
    return index < tokens_.size() ? Spelling(source_, tokens_[index]) : std::string_view();
  }

  std::string CheckToken(std::size_t i) {
    const std::string_view word = Word(i);
    switch (tokens_[i].kind) {
      case TokenKind::kDirective:
        return IsUnrollHint(word) ? "" : "a preprocessor directive";
      case TokenKind::kString:
        if (word.find('R') < word.find('"')) return "a raw string";
        return {};
      case TokenKind::kPunctuator:
        return CheckPunctuator(i, word);
      case TokenKind::kIdentifier:
        return CheckIdentifier(i, word);
      default:
        return {};
    }
  }

  std::string CheckPunctuator(std::size_t i, std::string_view word) {
    if (word.find('#') != std::string_view::npos || word.starts_with("%:") ||
        (word == "%" && Word(i + 1) == ":") || word.starts_with("??") || word == "<%" ||
        word == "%>" || word == "<:" || word == ":>") {
      return "'" + std::string(word) + "' (a directive or another spelling of a bracket)";
    }
    for (const char c : word) {
      if (c == '(' || c == '[' || c == '{') open_.push_back(c);
      if (c != ')' && c != ']' && c != '}') continue;
      const char expected = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open_.empty() || open_.back() != expected) return "a bracket that closes nothing";
      open_.pop_back();
    }
    if (word == "[" && Word(i + 1) == "[" && tokens_[i + 1].begin == tokens_[i].end) {
      return CheckStandardAttribute(i + 2);
    }
    if (word == "[[") return CheckStandardAttribute(i + 1);
    return {};
  }

  std::string CheckStandardAttribute(std::size_t i) const {
    for (; i < tokens_.size() && Word(i) != "]" && Word(i) != "]]"; ++i) {
      if (tokens_[i].kind == TokenKind::kIdentifier && !In(kStandardAttributes, Word(i))) {
        return "the attribute '" + std::string(Word(i)) + "'";
      }
    }
    return {};
  }

  std::string CheckIdentifier(std::size_t i, std::string_view word) const {
    if (In(kHostWords, word)) return "'" + std::string(word) + "'";
    if (word == "extern") {
      const bool shared = Word(i + 1) == "__shared__" ||
                          (Word(i + 1) == "__attribute__" && Word(i + 4) == "shared");
      return shared ? "" : "'extern' of anything but dynamic shared memory";
    }
    if (word == "__attribute__" || word == "__attribute") return CheckAttribute(i + 1);
    return {};
  }

  std::string CheckAttribute(std::size_t open) const {
    const std::size_t close = MatchingToken(source_, tokens_, open);
    int depth = 0;
    for (std::size_t i = open; i < close && i < tokens_.size(); ++i) {
      if (Word(i) == "(") ++depth;
      if (Word(i) == ")") --depth;
      const bool name = depth == 2 && tokens_[i].kind == TokenKind::kIdentifier;
      if (name && !In(kAttributes, Word(i))) return "the attribute '" + std::string(Word(i)) + "'";
    }
    return {};
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<char> open_;
};

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

std::string ForbiddenWords(std::string_view source) { return Words(source).Check(); }

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
    if (!In(kIncludes, include)) return include;
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
  constexpr std::string_view kBuiltin = "__builtin_";
  if (!name.starts_with(kBuiltin)) return false;
  const std::string_view stem = name.substr(kBuiltin.size());
  for (const std::string_view allowed :
       {"expect",         "assume",    "unreachable", "trap",  "inff",   "inf",
        "huge_val",       "huge_valf", "nan",         "nanf",  "memcpy", "memset",
        "memmove",        "popcount",  "clz",         "ctz",   "isnan",  "isinf",
        "assume_aligned", "fabs",      "fmaxf",       "fminf", "sqrt",   "constant_p"}) {
    if (stem == allowed) return true;
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
