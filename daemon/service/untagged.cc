#include "service/untagged.h"

#include <algorithm>
#include <cctype>

#include "records/kernel.h"
#include "service/documents.h"

namespace cupilot::service {
namespace {

bool IsLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool IsWord(const std::string& text, std::size_t at, std::size_t size) {
  return (at == 0 || !IsLetter(text[at - 1])) &&
         (at + size >= text.size() || !IsLetter(text[at + size]));
}

std::int64_t LineAt(const std::string& text, std::size_t at) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
}

}  // namespace

HeadLines FindHead(const std::string& text, const std::string& kernel) {
  const std::size_t colon = kernel.rfind(':');
  const std::string name = colon == std::string::npos ? kernel : kernel.substr(colon + 1);
  if (name.empty()) return {};
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t behind = text.find_first_not_of(" \t\n", at + name.size());
    if (!IsWord(text, at, name.size()) || behind == text.npos || text[behind] != '(') continue;
    // What was before ends there.
    const std::size_t end = at == 0 ? text.npos : text.find_last_of(";}", at - 1);
    const std::size_t begin = end == text.npos ? 0 : end + 1;
    const std::string head = text.substr(begin, at - begin);
    std::size_t first = head.rfind("__global__");
    if (first == head.npos) continue;
    const std::size_t line = head.rfind("\ntemplate", first);
    if (line != head.npos) first = line + 1;
    if (head.starts_with("template")) first = 0;
    return {LineAt(text, begin + first), LineAt(text, at)};
  }
  return {};
}

std::string WhyNoKernel(Service& service, const std::string& name, const SourceLine& line,
                        const std::string& folder) {
  for (const auto& [object, state] : service.objects()) {
    if (state.scan == nullptr || !InProject(service, state, folder)) continue;
    const std::string& source = state.object.command.source;
    for (const std::string& kernel : state.scan->untagged) {
      const bool named = records::NamesKernel(name, kernel);
      if (!named && source != line.file) continue;
      const HeadLines head = FindHead(state.scan->source_text, kernel);
      if (!named && (head.first == 0 || line.line < head.first || line.line > head.last)) continue;
      return "'" + kernel + "' has no tag: write `// cupilot: tune` above " +
             (head.first == 0 ? "it, in " + source + " or what that includes"
                              : source + ":" + std::to_string(head.first)) +
             ", and build";
    }
  }
  return "no tagged kernel '" + name + "' is known here; `cupilot list` shows those that are";
}

}  // namespace cupilot::service
