// Tokens of C++ text without clang: enough to find a specifier, a semicolon or a bracket, to
// compare two texts token by token, and to hash one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::source {

enum class TokenKind : std::uint8_t {
  kIdentifier,
  kNumber,
  kString,
  kChar,
  kPunctuator,
  kDirective
};

struct Token {
  TokenKind kind = TokenKind::kPunctuator;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// The tokens of text[begin, end): comments and white space left out, a line that starts with '#' is
// one kDirective token (continued lines included). Punctuators are maximal munch, except that '>'
// is always single, so that template brackets can be counted. Never fails: a stray byte is a
// punctuator.
std::vector<Token> Lex(std::string_view text, std::size_t begin = 0,
                       std::size_t end = std::string_view::npos);

inline std::string_view Spelling(std::string_view text, const Token& token) {
  return text.substr(token.begin, token.end - token.begin);
}

// Index of the token that closes the bracket at tokens[open] ("(", "[", "{"); tokens.size() if none
// does.
std::size_t MatchingToken(std::string_view text, const std::vector<Token>& tokens,
                          std::size_t open);

}  // namespace cupilot::source
