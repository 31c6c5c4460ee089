#include "client/nvcc/variant_words.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "source/whitelist_words.h"

namespace cupilot::nvcc {
namespace {

bool IsVariantNamespace(std::string_view name) {
  constexpr std::string_view kBegin = "cupilot_";
  constexpr std::size_t kDigits = 16;
  return name.size() == kBegin.size() + kDigits && name.starts_with(kBegin) &&
         name.find_first_not_of("0123456789abcdef", kBegin.size()) == std::string_view::npos;
}

// The marks of lines, `# 12 "file"`, are the preprocessor's own.
std::string WithoutMarks(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = text.substr(begin, end - begin);
    const bool mark = line.size() > 2 && line.starts_with("# ") &&
                      std::isdigit(static_cast<unsigned char>(line[2])) != 0;
    out += mark ? "\n" : line;
    begin = end;
  }
  return out;
}

// A swapped source has the variant in one more namespace, of its object.
std::string_view WithoutInlineNamespace(std::string_view body) {
  constexpr std::string_view kBegin = "inline namespace of_";
  const std::size_t at = body.find_first_not_of(" \t\n");
  if (at == std::string_view::npos || !body.substr(at).starts_with(kBegin)) return body;
  const std::size_t open = body.find_first_not_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ", at);
  const std::size_t close = body.rfind('}');
  if (open == std::string_view::npos || body[open] != '{' || close == std::string_view::npos ||
      close < open) {
    return body;
  }
  return body.substr(open + 1, close - open - 1);
}

}  // namespace

std::string WhyNotVariantWords(const source::Tree& tree) {
  std::set<std::string> seen;
  for (const source::Node& node : tree.nodes) {
    if (node.kind != source::Kind::kNamespace || !IsVariantNamespace(node.name)) continue;
    if (!seen.insert(node.qualified).second) return "'" + node.name + "' is opened twice";
    const std::string_view whole =
        std::string_view(tree.text).substr(node.begin, node.end - node.begin);
    const std::size_t open = whole.find('{'), close = whole.rfind('}');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
      return "'" + node.name + "' has no end";
    }
    const std::string body = WithoutMarks(whole.substr(open + 1, close - open - 1));
    std::string wrong = source::ForbiddenWords(WithoutInlineNamespace(body));
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace cupilot::nvcc
