#include "search/python_tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace cupilot::search {

PythonToken PythonTokens::Next() {
  const auto is = [this](auto kind) {
    return at_ < text_.size() && kind(static_cast<unsigned char>(text_[at_])) != 0;
  };
  while (is([](int c) { return c == '#' ? 1 : std::isspace(c); })) {
    at_ = text_[at_] == '#' ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
  }
  PythonToken token{PythonToken::kEnd, "", at_};
  if (at_ == text_.size()) return token;
  const std::size_t begin = at_;
  const char first = text_[at_];
  if (first == '"' || first == '\'') {
    const std::size_t end = text_.find(first, at_ + 1);
    if (end == std::string_view::npos) return {PythonToken::kUnendedText, "", begin};
    at_ = end + 1;
    return {PythonToken::kText, std::string(text_.substr(begin + 1, end - begin - 1)), begin};
  }
  if (is([](int c) { return std::isdigit(c); })) {
    token.kind = PythonToken::kNumber;
    while (is([](int c) { return std::isalnum(c) != 0 || c == '.' || c == '_' ? 1 : 0; })) ++at_;
  } else if (is([](int c) { return std::isalpha(c) != 0 || c == '_' ? 1 : 0; })) {
    token.kind = PythonToken::kName;
    while (is([](int c) { return std::isalnum(c) != 0 || c == '_' || c == '.' ? 1 : 0; })) ++at_;
  } else {
    token.kind = PythonToken::kSign;
    static constexpr std::array<std::string_view, 8> kTwo = {
        "**", "//", "<=", ">=", "==", "!=", "&&", "||"};
    const std::string_view two = text_.substr(at_, 2);
    at_ += std::find(kTwo.begin(), kTwo.end(), two) != kTwo.end() ? 2 : 1;
  }
  token.text = text_.substr(begin, at_ - begin);
  return token;
}

std::optional<PythonNumber> ReadPythonNumber(const std::string& text) {
  constexpr std::size_t kMostPlaces = 17;
  const std::size_t point = text.find('.');
  PythonNumber read;
  std::string digits = text;
  int base = 10;
  if (text.starts_with("0x")) {
    digits = text.substr(2);
    base = 16;
  } else if (point != std::string::npos) {
    digits = text.substr(0, point) + text.substr(point + 1);
    const std::size_t places = text.size() - point - 1;
    if (digits.find_first_not_of('0', point) == std::string::npos) {
      digits = text.substr(0, point);
    } else if (places > kMostPlaces) {
      return std::nullopt;
    } else {
      read.divisor = "1" + std::string(places, '0');
    }
  }
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, read.number, base);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return read;
}

}  // namespace cupilot::search
