#include "instance_label.h"

#include <string_view>
#include <vector>

namespace cupilot_host {
namespace {

constexpr std::string_view kOpening = "([{<";
constexpr std::string_view kClosing = ")]}>";

// Parts at the top level of brackets.
std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (kOpening.find(c) != std::string_view::npos) ++depth;
    if (kClosing.find(c) != std::string_view::npos) --depth;
    if (depth == 0 && c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::string LabelOf(const std::string& name, const std::string& description) {
  const std::size_t begin = description.rfind(" [");
  if (begin == std::string::npos || description.back() != ']') return name;
  std::string inner = description.substr(begin + 2, description.size() - begin - 3);
  const bool gcc = inner.rfind("with ", 0) == 0;
  if (gcc) inner.erase(0, 5);
  std::string arguments;
  for (const std::string& part : Split(inner, gcc ? ';' : ',')) {
    const std::size_t equals = part.find(" = ");
    if (equals == std::string::npos) return name;
    std::string value = Trimmed(part.substr(equals + 3));
    // A pack stands in braces, or in angles at clang's.
    const bool pack = value.size() > 1 && ((value.front() == '{' && value.back() == '}') ||
                                           (value.front() == '<' && value.back() == '>'));
    if (pack) value = Trimmed(value.substr(1, value.size() - 2));
    if (!value.empty()) arguments += (arguments.empty() ? "" : ", ") + value;
  }
  return arguments.empty() ? name : name + "<" + arguments + ">";
}

}  // namespace cupilot_host
