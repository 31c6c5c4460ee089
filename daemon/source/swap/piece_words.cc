#include "source/swap/piece_words.h"

#include <cctype>
#include <unordered_set>

namespace cupilot::source {

bool IsAttributeWord(std::string_view word) {
  static const std::unordered_set<std::string_view> kWords = {
      "__attribute__",     "__attribute",   "__declspec",     "alignas",          "__align__",
      "__launch_bounds__", "__maxnreg__",   "decltype",       "noexcept",         "throw",
      "explicit",          "static_assert", "_Static_assert", "__cluster_dims__", "__block_size__",
      "__typeof__",        "typeof",        "_Alignas"};
  return kWords.count(word) > 0;
}

bool IsKeyword(std::string_view word) {
  static const std::unordered_set<std::string_view> kKeywords = {"alignas",
                                                                 "alignof",
                                                                 "asm",
                                                                 "auto",
                                                                 "bool",
                                                                 "break",
                                                                 "case",
                                                                 "catch",
                                                                 "char",
                                                                 "char16_t",
                                                                 "char32_t",
                                                                 "char8_t",
                                                                 "class",
                                                                 "co_await",
                                                                 "co_return",
                                                                 "co_yield",
                                                                 "concept",
                                                                 "const",
                                                                 "const_cast",
                                                                 "consteval",
                                                                 "constexpr",
                                                                 "constinit",
                                                                 "continue",
                                                                 "decltype",
                                                                 "default",
                                                                 "delete",
                                                                 "do",
                                                                 "double",
                                                                 "dynamic_cast",
                                                                 "else",
                                                                 "enum",
                                                                 "explicit",
                                                                 "export",
                                                                 "extern",
                                                                 "false",
                                                                 "float",
                                                                 "for",
                                                                 "friend",
                                                                 "goto",
                                                                 "if",
                                                                 "inline",
                                                                 "int",
                                                                 "long",
                                                                 "mutable",
                                                                 "namespace",
                                                                 "new",
                                                                 "noexcept",
                                                                 "nullptr",
                                                                 "operator",
                                                                 "private",
                                                                 "protected",
                                                                 "public",
                                                                 "register",
                                                                 "reinterpret_cast",
                                                                 "requires",
                                                                 "return",
                                                                 "short",
                                                                 "signed",
                                                                 "sizeof",
                                                                 "static",
                                                                 "static_assert",
                                                                 "static_cast",
                                                                 "struct",
                                                                 "switch",
                                                                 "template",
                                                                 "this",
                                                                 "thread_local",
                                                                 "throw",
                                                                 "true",
                                                                 "try",
                                                                 "typedef",
                                                                 "typeid",
                                                                 "typename",
                                                                 "union",
                                                                 "unsigned",
                                                                 "using",
                                                                 "virtual",
                                                                 "void",
                                                                 "volatile",
                                                                 "wchar_t",
                                                                 "while",
                                                                 "final",
                                                                 "override",
                                                                 "__global__",
                                                                 "__device__",
                                                                 "__host__",
                                                                 "__shared__",
                                                                 "__constant__",
                                                                 "__managed__",
                                                                 "__restrict__",
                                                                 "__restrict",
                                                                 "__inline__",
                                                                 "__inline",
                                                                 "__volatile__",
                                                                 "__forceinline__",
                                                                 "__noinline__",
                                                                 "__grid_constant__",
                                                                 "__extension__",
                                                                 "__const__"};
  return kKeywords.count(word) > 0 || IsAttributeWord(word);
}

std::string PlainDirective(std::string_view directive) {
  if (directive.find("R\"") != std::string_view::npos) return {};
  std::string plain;
  bool blank = false;
  char quote = '\0';
  for (std::size_t i = 0; i < directive.size(); ++i) {
    const char c = directive[i];
    if (quote == '\0' && c == '/' && i + 1 < directive.size() && directive[i + 1] == '/') break;
    if (quote == '\0' && c == '/' && i + 1 < directive.size() && directive[i + 1] == '*') {
      const std::size_t close = directive.find("*/", i + 2);
      if (close == std::string_view::npos) return {};
      i = close + 1;
      blank = true;
      continue;
    }
    const bool splice = c == '\\' && i + 1 < directive.size() &&
                        (directive[i + 1] == '\n' || directive[i + 1] == '\r');
    if (quote == '\0' && (splice || std::isspace(static_cast<unsigned char>(c)))) {
      blank = true;
      continue;
    }
    // "# define" and "#define" are one.
    if (blank && plain != "#") plain += ' ';
    blank = false;
    plain += c;
    if (c == '\\' && quote != '\0' && i + 1 < directive.size()) plain += directive[++i];
    if (quote != '\0' ? c == quote : c == '"') quote = quote == '\0' ? c : '\0';
  }
  return plain;
}

}  // namespace cupilot::source
