#include "source/whitelist_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

constexpr std::array<std::string_view, 23> kHostWords = {
    "asm",        "__asm",    "__asm__",      "_Pragma",   "__pragma",     "new",
    "delete",     "throw",    "try",          "catch",     "thread_local", "__thread",
    "virtual",    "typeid",   "dynamic_cast", "friend",    "__host__",     "__managed__",
    "__declspec", "co_await", "co_yield",     "co_return", "export"};

// Inside __attribute__((...)) and, behind "gnu::", in [[...]]: what the runtime's own macros expand
// to, and what promises nothing and makes nothing run.
constexpr std::array<std::string_view, 20> kAttributes = {
    "global",  "device",       "shared",         "constant",   "launch_bounds", "grid_constant",
    "maxnreg", "cluster_dims", "nv_inline_hint", "noinline",   "__noinline__",  "always_inline",
    "aligned", "__aligned__",  "unused",         "__unused__", "used",          "flatten",
    "hot",     "cold"};
constexpr std::array<std::string_view, 6> kStandardAttributes = {
    "nodiscard", "maybe_unused", "likely", "unlikely", "fallthrough", "no_unique_address"};

// The words of compilers that begin and end with two underscores and say the same in all places.
constexpr std::array<std::string_view, 24> kCompilersWords = {
    "__global__",      "__device__",   "__shared__",       "__constant__",      "__restrict__",
    "__forceinline__", "__noinline__", "__inline__",       "__launch_bounds__", "__grid_constant__",
    "__align__",       "__maxnreg__",  "__cluster_dims__", "__attribute__",     "__extension__",
    "__alignof__",     "__const__",    "__volatile__",     "__signed__",        "__typeof__",
    "__aligned__",     "__unused__",   "__nv_pure__",      "__int128__"};

// And those that are written otherwise: what differs between compilers, their settings, or places
// of the text.
constexpr std::array<std::string_view, 13> kTelling = {"linux",
                                                       "unix",
                                                       "i386",
                                                       "_LP64",
                                                       "_GNU_SOURCE",
                                                       "_REENTRANT",
                                                       "_OPENMP",
                                                       "__cplusplus",
                                                       "__linux",
                                                       "__unix",
                                                       "__x86_64",
                                                       "source_location",
                                                       "is_constant_evaluated"};

constexpr std::string_view kBuiltIn = "__builtin_";

template <std::size_t N>
bool Among(const std::array<std::string_view, N>& list, std::string_view word) {
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

bool IsClosed(std::string_view literal) {
  const std::size_t open = literal.find_first_of("'\"");
  for (std::size_t i = open + 1; i < literal.size(); ++i) {
    if (literal[i] == '\\') {
      ++i;
    } else if (literal[i] == literal[open]) {
      return true;
    }
  }
  return false;
}

// Compilers do not agree where a number with a ' ends that is not between two of its digits.
bool HasStraySeparator(std::string_view source, const Token& number) {
  const auto alphanumeric = [source](std::size_t at) {
    return at < source.size() && std::isalnum(static_cast<unsigned char>(source[at])) != 0;
  };
  for (std::size_t at = number.begin; at < source.size() && at <= number.end; ++at) {
    if (source[at] == '\'' && !(alphanumeric(at - 1) && alphanumeric(at + 1))) return true;
  }
  return false;
}

class Words {
 public:
  explicit Words(std::string_view source) : source_(source), tokens_(Lex(source)) {}

  std::string Check() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      std::string wrong = CheckToken(i);
      if (!wrong.empty()) return At(source_, tokens_[i].begin, wrong);
    }
    if (!open_.empty()) return "an opening bracket is not closed";
    return CheckEnd();
  }

 private:
  std::string_view Word(std::size_t index) const {
    return index < tokens_.size() ? Spelling(source_, tokens_[index]) : std::string_view();
  }

  // Behind the last token there are comments only; one that is not closed would go on behind the
  // text.
  std::string CheckEnd() const {
    std::size_t at = tokens_.empty() ? 0 : tokens_.back().end;
    while ((at = source_.find('/', at)) != std::string_view::npos) {
      const bool line = source_.substr(at, 2) == "//";
      const std::size_t end = source_.find(line ? "\n" : "*/", at + 2);
      if (end == std::string_view::npos && line) break;
      if (end == std::string_view::npos) {
        return At(source_, static_cast<std::uint32_t>(at), "a comment that is not closed");
      }
      at = end + (line ? 1 : 2);
    }
    return {};
  }

  std::string CheckToken(std::size_t i) {
    const std::string_view word = Word(i);
    switch (tokens_[i].kind) {
      case TokenKind::kDirective:
        return IsUnrollHint(word) ? "" : "a preprocessor directive";
      case TokenKind::kString:
        if (word.find('R') < word.find('"')) return CheckRawString(word);
        [[fallthrough]];
      case TokenKind::kChar:
        return IsClosed(word) ? "" : "a literal that is not closed";
      case TokenKind::kPunctuator:
        return CheckPunctuator(i, word);
      case TokenKind::kIdentifier:
        return CheckIdentifier(i, word);
      case TokenKind::kNumber:
        return HasStraySeparator(source_, tokens_[i]) ? "a number with a ' that separates no digits"
                                                      : "";
    }
    return {};
  }

  std::string CheckPunctuator(std::size_t i, std::string_view word) {
    const std::string_view next = Word(i + 1);
    if (word.find('#') != std::string_view::npos || (word == "%" && next == ":") || word == "\\" ||
        IsOtherBracket(i)) {
      return "'" + std::string(word) + "' (a directive or another spelling of a character)";
    }
    for (const char c : word) {
      if (c == '(' || c == '[' || c == '{') open_.push_back(c);
      if (c != ')' && c != ']' && c != '}') continue;
      const char expected = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open_.empty() || open_.back() != expected) return "a bracket that closes nothing";
      open_.pop_back();
    }
    // With blanks between them, too.
    if (word == "[" && next == "[") return CheckStandardAttribute(i);
    return {};
  }

  // "<:", ":>", "<%" and "%>" stand for brackets, "%:" for '#'; not "<::a", where C++11 reads on.
  bool IsOtherBracket(std::size_t i) const {
    const std::string_view rest = source_.substr(tokens_[i].begin, 4);
    if (rest.starts_with("%:") || rest.starts_with(":>") || rest.starts_with("%>") ||
        rest.starts_with("<%"))
      return true;
    if (Word(i) != "<" || !rest.starts_with("<:")) return false;
    return !rest.starts_with("<::") || rest == "<:::" || rest == "<::>";
  }

  // One that ends in the same place where a language without raw strings reads it.
  static std::string CheckRawString(std::string_view word) {
    const bool plain = std::count(word.begin(), word.end(), '"') == 2 && word.ends_with('"') &&
                       word.find_first_of("\n\r\\") == std::string_view::npos;
    return plain ? "" : "a raw string with a quote, a backslash or a line's end in it";
  }

  // tokens_[open] is the first of its two brackets. What stands in an attribute's own parentheses
  // is a value.
  std::string CheckStandardAttribute(std::size_t open) const {
    const std::size_t close = MatchingToken(source_, tokens_, open);
    int depth = 0;
    for (std::size_t i = open; i < close && i < tokens_.size(); ++i) {
      const std::string_view word = Word(i);
      if (tokens_[i].kind == TokenKind::kString) return "an attribute with a text";
      depth += word == "(" ? 1 : word == ")" ? -1 : 0;
      if (depth > 0 || tokens_[i].kind != TokenKind::kIdentifier) continue;
      const bool scoped = Word(i) == "gnu" && Word(i + 1) == "::";
      if (scoped) i += 2;
      const bool known = scoped ? Among(kAttributes, Word(i)) : Among(kStandardAttributes, Word(i));
      if (!known) return "the attribute '" + std::string(Word(i)) + "'";
    }
    return {};
  }

  // "using namespace a::b;" and "namespace c = a::b;" name one that is there.
  std::string CheckNamespace(std::size_t i) const {
    const bool directive = i > 0 && Word(i - 1) == "using";
    std::size_t at = i + 1;
    if (!directive) {
      const bool alias =
          at < tokens_.size() && tokens_[at].kind == TokenKind::kIdentifier && Word(at + 1) == "=";
      if (!alias) return "'namespace'";
      at += 2;
    }
    const auto of_a_name = [this](std::size_t token) {
      return token < tokens_.size() &&
             (tokens_[token].kind == TokenKind::kIdentifier || Word(token) == "::");
    };
    while (of_a_name(at)) ++at;
    return Word(at) == ";" ? "" : "'namespace'";
  }

  // What is one thing where a variant is checked and another where it is built, or in two builds:
  // what it decides nobody has proven.
  bool TellsWhereItIsBuilt(std::size_t i, std::string_view word) const {
    if (word.starts_with(kBuiltIn)) return !IsBuiltInOfDevices(word);
    if (Among(kTelling, word) || word.starts_with("__has_") ||
        word.starts_with("__is_identifier")) {
      return true;
    }
    if (!word.starts_with("__") || !word.ends_with("__")) return false;
    // The function's name as assert() gives it to who prints it.
    const bool printed =
        Word(i + 1) == ")" && (Word(i - 1) == "__extension__" || Word(i - 1) == ",");
    const bool function =
        word == "__PRETTY_FUNCTION__" || word == "__func__" || word == "__FUNCTION__";
    return !Among(kCompilersWords, word) && !(function && printed && InAssert(i));
  }

  // The call that is open before the token is that of __assert_fail.
  bool InAssert(std::size_t i) const {
    int depth = 0;
    for (std::size_t at = i; at-- > 1;) {
      if (Word(at) == ")") ++depth;
      if (Word(at) == "(" && depth-- == 0) return Word(at - 1) == "__assert_fail";
    }
    return false;
  }

  std::string CheckIdentifier(std::size_t i, std::string_view word) const {
    if (Among(kHostWords, word)) return "'" + std::string(word) + "'";
    if (TellsWhereItIsBuilt(i, word)) {
      return "'" + std::string(word) + "', which differs from build to build";
    }
    if (word == "namespace") return CheckNamespace(i);
    // A lambda's is its own; a constant's member would outlive a launch.
    if (word == "mutable" && Word(i + 1) != "{" && Word(i + 1) != "->") return "'mutable'";
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
      if (name && !Among(kAttributes, Word(i)))
        return "the attribute '" + std::string(Word(i)) + "'";
    }
    return {};
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<char> open_;
};

}  // namespace

bool IsBuiltInOfDevices(std::string_view name) {
  constexpr std::array<std::string_view, 37> kStems = {
      "expect",    "assume",     "unreachable", "trap",    "inff",           "inf",     "huge_val",
      "huge_valf", "nan",        "nanf",        "memcpy",  "memset",         "memmove", "popcount",
      "popcountl", "popcountll", "clz",         "clzl",    "clzll",          "ctz",     "ctzl",
      "ctzll",     "ffs",        "ffsl",        "ffsll",   "bswap16",        "bswap32", "bswap64",
      "isnan",     "isinf",      "isfinite",    "signbit", "assume_aligned", "fabs",    "fmaxf",
      "fminf",     "sqrt"};
  return name.starts_with(kBuiltIn) && Among(kStems, name.substr(kBuiltIn.size()));
}

std::string ForbiddenWords(std::string_view source) { return Words(source).Check(); }

}  // namespace cupilot::source
