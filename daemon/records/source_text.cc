#include "records/source_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace cupilot::records {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kTrigraphs = "=/'()!<>-";

// A character of UTF-8; no bytes: it is none.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character CharacterAt(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {};
  std::uint32_t code = first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || surrogate) return {};
  return {code, bytes};
}

// What ends a line, is not shown or turns the order of what is shown, for some readers of a text.
bool IsHidden(std::uint32_t code) {
  if (code < 0x20) return code != '\n' && code != '\t';
  if (code < 0x7F) return false;
  return code <= 0x9F || (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
}

std::string NameOf(std::uint32_t code) {
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "U+%04X", static_cast<unsigned>(code));
  return name.data();
}

base::Result<std::string> Refused(std::string_view before, const std::string& what) {
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  return base::Fail(base::InvalidArgument("line " + std::to_string(line) + ": " + what));
}

// One kind of line end, one kind of blank.
std::string WithPlainLines(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r') {
      plain += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else {
      plain += c == '\f' || c == '\v' ? ' ' : c;
    }
  }
  return plain;
}

base::Result<> CheckCharacters(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Character character = CharacterAt(text.substr(i));
    if (character.bytes == 0) {
      TRY(Refused(text.substr(0, i), "the text is no UTF-8"));
    }
    if (IsHidden(character.code)) {
      TRY(Refused(text.substr(0, i),
                  "the character " + NameOf(character.code) +
                      ", which compilers and people do not read alike; leave it out"));
    }
    if (text.substr(i, 2) == "??" && i + 2 < text.size() &&
        kTrigraphs.find(text[i + 2]) != std::string_view::npos) {
      TRY(Refused(text.substr(0, i), "the trigraph '" + std::string(text.substr(i, 3)) +
                                         "'; write the character itself"));
    }
    i += character.bytes;
  }
  return {};
}

// Where the line ends that a backslash at `at` joins with the next one; npos: it joins none.
std::size_t JoinedAt(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of(" \t", at + 1);
  if (end == std::string_view::npos) return text.size();
  return text[end] == '\n' ? end : std::string_view::npos;
}

// Whether the text ends inside of a // comment.
bool EndsInLineComment(std::string_view text) {
  char inside = 0;  // a quote, '/' for a line's comment, '*' for another
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (inside == 0) {
      if (c == '"' || c == '\'') inside = c;
      if (c == '/' && (next == '/' || next == '*')) inside = text[++i];
    } else if (c == '\n' && inside != '*') {
      inside = 0;
    } else if (inside == '*') {
      if (c == '*' && next == '/') {
        inside = 0;
        ++i;
      }
    } else if (inside != '/') {
      if (c == '\\') ++i;
      if (c == inside) inside = 0;
    }
  }
  return inside == '/';
}

}  // namespace

base::Result<std::string> ResolveText(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string plain = WithPlainLines(text);
  TRY(CheckCharacters(plain));
  std::string resolved;
  resolved.reserve(plain.size());
  std::size_t joined = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t end = plain[i] == '\\' ? JoinedAt(plain, i) : std::string::npos;
    if (end == plain.size()) {
      return Refused(plain.substr(0, i), "a backslash at the end of the text");
    }
    if (end != std::string::npos) {
      if (EndsInLineComment(resolved)) {
        return Refused(plain.substr(0, i), "a comment that a backslash joins to the next line");
      }
      ++joined;
      i = end;
      continue;
    }
    resolved += plain[i];
    if (plain[i] != '\n') continue;
    resolved.append(joined, '\n');
    joined = 0;
  }
  resolved.append(joined, '\n');
  // What joining has put together: a backslash, or two questions and more.
  for (std::size_t i = resolved.find('\\'); i != std::string::npos;
       i = resolved.find('\\', i + 1)) {
    if (JoinedAt(resolved, i) == std::string::npos) continue;
    return Refused(std::string_view(resolved).substr(0, i),
                   "a backslash that joins lines again once they are joined");
  }
  TRY(CheckCharacters(resolved));
  return resolved;
}

}  // namespace cupilot::records
