#include "agents/roles/plain_text.h"

#include <cstdlib>

#include "agents/roles/roofline_analyst.h"

namespace cupilot::agents {
namespace {

bool IsNumeral(char c) { return c >= '0' && c <= '9'; }
bool IsWordPart(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return IsNumeral(c) || (lower >= 'a' && lower <= 'z') || c == '_';
}
bool IsPathPart(char c) { return IsWordPart(c) || c == '.' || c == '-' || c == '+'; }

// The length of "12.5" or "1.25e-05" at the beginning; 0: no number with decimals is there.
std::size_t DecimalAt(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && IsNumeral(text[at])) ++at;
    return at > begin;
  };
  if (!digits() || at >= text.size() || text[at] != '.') return 0;
  ++at;
  if (!digits()) return 0;
  if (at < text.size() && text[at] == 'e') {
    const std::size_t before = at++;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (!digits()) at = before;
  }
  // A version, or a part of a word.
  const bool goes_on =
      at < text.size() && (IsWordPart(text[at]) ||
                           (text[at] == '.' && at + 1 < text.size() && IsNumeral(text[at + 1])));
  return goes_on ? 0 : at;
}

}  // namespace

std::string WithRoundedNumbers(std::string_view text) {
  std::string rounded;
  std::size_t at = 0;
  while (at < text.size()) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const std::size_t length = IsWordPart(before) || before == '.' ? 0 : DecimalAt(text.substr(at));
    if (length > 0) {
      rounded += Rounded(std::strtod(std::string(text.substr(at, length)).c_str(), nullptr));
    } else {
      rounded += text[at];
    }
    at += length > 0 ? length : 1;
  }
  return rounded;
}

std::string WithoutFolders(std::string_view text) {
  std::string plain;
  std::size_t at = 0;
  while (at < text.size()) {
    const char before = at > 0 ? text[at - 1] : ' ';
    std::size_t end = at, last = at;
    const bool begins = text[at] == '/' && !IsPathPart(before) && before != '/';
    while (begins && end < text.size() && (text[end] == '/' || IsPathPart(text[end]))) {
      if (text[end] == '/') last = end;
      ++end;
    }
    // More than one part, from the root; no comment and no division.
    if (last > at + 1 && end > last + 1) {
      plain += text.substr(last + 1, end - last - 1);
      at = end;
    } else {
      plain += text[at++];
    }
  }
  return plain;
}

}  // namespace cupilot::agents
