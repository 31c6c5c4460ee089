#include "source/substitute.h"

#include "source/syntax/lexer.h"

namespace cupilot::source {

std::string Substitute(const std::string& text, const NamedValues& values) {
  std::string result;
  std::size_t at = 0;
  for (const Token& token : Lex(text)) {
    result += text.substr(at, token.begin - at);
    std::string word(Spelling(text, token));
    for (const auto& [name, value] : values) {
      if (word == name) word = std::to_string(value);
    }
    result += word;
    at = token.end;
  }
  return result + text.substr(at);
}

}  // namespace cupilot::source
