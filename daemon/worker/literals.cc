#include "worker/literals.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

namespace cupilot::worker {
namespace {

constexpr std::size_t kMostLiterals = 24;

bool BelongsToWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Of '\n' and the like.
int CharacterAt(std::string_view text, std::size_t& at) {
  if (text[at] != '\\') return static_cast<unsigned char>(text[at++]);
  const char escaped = at + 1 < text.size() ? text[at + 1] : '\\';
  at += 2;
  switch (escaped) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '0':
      return 0;
    default:
      return static_cast<unsigned char>(escaped);
  }
}

}  // namespace

std::vector<double> LiteralsOf(std::string_view source) {
  const std::string text(source);
  std::vector<double> found;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || (!BelongsToWord(text[at - 1]) && text[at - 1] != '.');
    const bool digit = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    const bool point = text[at] == '.' && at + 1 < text.size() &&
                       std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0;
    if (text[at] == '\'' && at + 2 < text.size()) {
      ++at;
      const int character = CharacterAt(text, at);
      if (at < text.size() && text[at] == '\'') found.push_back(character);
      ++at;
    } else if (begins && (digit || point)) {
      char* end = nullptr;
      const double value = std::strtod(text.c_str() + at, &end);
      found.push_back(value);
      at = static_cast<std::size_t>(end - text.c_str());
    } else {
      ++at;
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::erase_if(found, [](double value) {
    return value == 0 || value == 1 || !std::isfinite(value) || std::fabs(value) > 1e30;
  });
  // The least are thread counts and the like as often as limits: from both ends.
  while (found.size() > kMostLiterals) {
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2));
  }
  return found;
}

}  // namespace cupilot::worker
