#include "source/lower/attributes.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace cupilot::source {
namespace {

constexpr std::string_view kAttribute = "__attribute__((";
constexpr std::array<std::string_view, 7> kCuda = {"global",   "device",  "host",         "shared",
                                                   "constant", "managed", "launch_bounds"};

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// One past the parenthesis that closes the one at `open`.
std::size_t CloseOf(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return text.size();
}

std::string_view WordAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && IsWordCharacter(text[end])) ++end;
  return text.substr(at, end - at);
}

// True if the word at `at` is an element of an attribute's list already.
bool IsInAttributeList(std::string_view text, std::size_t at) {
  while (at > 0 && std::isspace(static_cast<unsigned char>(text[at - 1])) != 0) --at;
  return at > 0 && (text[at - 1] == '(' || text[at - 1] == ',');
}

}  // namespace

void RemoveCudaAttributes(std::string_view text, Edits& edits) {
  for (std::size_t at = text.find(kAttribute); at != std::string_view::npos;
       at = text.find(kAttribute, at + 1)) {
    const std::string_view word = WordAt(text, at + kAttribute.size());
    if (std::find(kCuda.begin(), kCuda.end(), word) == kCuda.end()) continue;
    const std::size_t end = CloseOf(text, at + kAttribute.size() - 2);
    edits.Blank(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end));
  }
  constexpr std::string_view kNoInline = "__noinline__";
  for (std::size_t at = text.find(kNoInline); at != std::string_view::npos;
       at = text.find(kNoInline, at + 1)) {
    const bool word =
        (at == 0 || !IsWordCharacter(text[at - 1])) && WordAt(text, at).size() == kNoInline.size();
    if (!word || IsInAttributeList(text, at)) continue;
    edits.Replace(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + kNoInline.size()),
                  "__attribute__((noinline))");
  }
}

std::string LaunchBoundOf(std::string_view declaration) {
  constexpr std::string_view kBounds = "launch_bounds";
  const std::size_t at = declaration.find(kBounds);
  if (at == std::string_view::npos) return "";
  const std::size_t open = declaration.find_first_not_of("_ ", at + kBounds.size());
  if (open == std::string_view::npos || declaration[open] != '(') return "";
  const std::size_t begin = open + 1;
  const std::size_t end = CloseOf(declaration, begin - 1) - 1;
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (declaration[i] == '(') ++depth;
    if (declaration[i] == ')') --depth;
    if (declaration[i] == ',' && depth == 0)
      return std::string(declaration.substr(begin, i - begin));
  }
  return std::string(declaration.substr(begin, end - begin));
}

}  // namespace cupilot::source
