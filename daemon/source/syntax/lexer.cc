#include "source/syntax/lexer.h"

#include <algorithm>

namespace cupilot::source {
namespace {

// Not those of <cctype>: the locale has no say, and the launcher has no time.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsIdentifierStart(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || c == '_' || c == '$' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool IsIdentifierPart(char c) { return IsIdentifierStart(c) || IsDigit(c); }

class Scanner {
 public:
  Scanner(std::string_view text, std::size_t begin, std::size_t end)
      : text_(text), at_(begin), end_(std::min(end, text.size())) {}

  std::vector<Token> Run() {
    std::vector<Token> tokens;
    bool line_start = true;
    while (true) {
      SkipBlanks(line_start);
      if (at_ >= end_) return tokens;
      Token token;
      token.begin = static_cast<std::uint32_t>(at_);
      token.kind = Next(line_start);
      token.end = static_cast<std::uint32_t>(std::min(at_, end_));
      line_start = token.kind == TokenKind::kDirective;
      tokens.push_back(token);
    }
  }

 private:
  char At(std::size_t i) const { return i < end_ ? text_[i] : '\0'; }

  void SkipBlanks(bool& line_start) {
    while (at_ < end_) {
      const char c = text_[at_];
      if (c == '\n') line_start = true;
      if (IsBlank(c)) {
        ++at_;
      } else if (c == '\\' && (At(at_ + 1) == '\n' || At(at_ + 1) == '\r')) {
        at_ += 2;
      } else if (c == '/' && At(at_ + 1) == '/') {
        SkipLine();
      } else if (c == '/' && At(at_ + 1) == '*') {
        const std::size_t close = text_.find("*/", at_ + 2);
        at_ = close == std::string_view::npos ? end_ : std::min(end_, close + 2);
      } else {
        return;
      }
    }
  }

  // To the end of the logical line, without the line end.
  void SkipLine() {
    while (at_ < end_ && text_[at_] != '\n') {
      if (text_[at_] == '\\' && At(at_ + 1) == '\n') ++at_;
      if (text_[at_] == '\\' && At(at_ + 1) == '\r' && At(at_ + 2) == '\n') at_ += 2;
      ++at_;
    }
  }

  TokenKind Next(bool line_start) {
    const char c = text_[at_];
    if (c == '#' && line_start) {
      SkipLine();
      return TokenKind::kDirective;
    }
    if (IsIdentifierStart(c)) return IdentifierOrPrefixedString();
    if (IsDigit(c) || (c == '.' && IsDigit(At(at_ + 1)))) {
      return Number();
    }
    if (c == '"' || c == '\'') return Quoted(c);
    Punctuator();
    return TokenKind::kPunctuator;
  }

  TokenKind IdentifierOrPrefixedString() {
    const std::size_t begin = at_;
    while (at_ < end_ && IsIdentifierPart(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const char c = At(at_);
    const bool prefix = word == "L" || word == "u" || word == "U" || word == "u8";
    if (c == '"' &&
        (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
      return RawString();
    }
    if ((c == '"' || c == '\'') && prefix) return Quoted(c);
    return TokenKind::kIdentifier;
  }

  TokenKind RawString() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open >= end_) {
      at_ = end_;
      return TokenKind::kString;
    }
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t found = text_.find(close, open);
    at_ = found == std::string_view::npos ? end_ : std::min(end_, found + close.size());
    return TokenKind::kString;
  }

  TokenKind Quoted(char quote) {
    ++at_;
    while (at_ < end_ && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\') ++at_;
      ++at_;
    }
    if (at_ < end_ && text_[at_] == quote) ++at_;
    // A literal's suffix; a digit begins the next token.
    if (IsIdentifierStart(At(at_))) {
      while (at_ < end_ && IsIdentifierPart(text_[at_])) ++at_;
    }
    return quote == '"' ? TokenKind::kString : TokenKind::kChar;
  }

  TokenKind Number() {
    while (at_ < end_) {
      const char c = text_[at_];
      const char before = text_[at_ - (at_ > 0 ? 1 : 0)];
      const bool exponent = (c == '+' || c == '-') &&
                            (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && IsIdentifierPart(At(at_ + 1));
      if (!IsIdentifierPart(c) && c != '.' && !exponent && !separator) break;
      ++at_;
    }
    return TokenKind::kNumber;
  }

  void Punctuator() {
    static constexpr std::string_view kLong[] = {
        "<<<", "<<=", "...", "->*", "<=>", "##", "<<", "<=", "==", "!=", "&&", "||", "++",
        "--",  "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "->", "::", ".*"};
    for (const std::string_view candidate : kLong) {
      if (candidate[0] != text_[at_]) continue;
      if (text_.substr(at_, candidate.size()) == candidate && at_ + candidate.size() <= end_) {
        at_ += candidate.size();
        return;
      }
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t end_;
};

}  // namespace

std::vector<Token> Lex(std::string_view text, std::size_t begin, std::size_t end) {
  return Scanner(text, begin, end).Run();
}

std::size_t MatchingToken(std::string_view text, const std::vector<Token>& tokens,
                          std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kPunctuator) continue;
    const char c = text[tokens[i].begin];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i;
  }
  return tokens.size();
}

}  // namespace cupilot::source
