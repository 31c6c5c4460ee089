#include "source/syntax/headers.h"

#include <string_view>

namespace cupilot::source {
namespace {

// What follows the longest of the known folders of a system's headers, or the whole path.
std::string_view BelowInclude(std::string_view path) {
  const std::size_t cxx = path.find("/include/c++/");
  if (cxx != std::string_view::npos) {
    const std::size_t version = path.find('/', cxx + 13);
    if (version == std::string_view::npos) return path;
    std::string_view rest = path.substr(version + 1);
    for (const std::string_view part : {"x86_64-linux-gnu/", "aarch64-linux-gnu/", "backward/"}) {
      if (rest.starts_with(part)) rest.remove_prefix(part.size());
    }
    return rest;
  }
  const std::size_t include = path.rfind("/include/");
  if (include == std::string_view::npos) return path;
  std::string_view rest = path.substr(include + 9);
  for (const std::string_view part : {"x86_64-linux-gnu/", "aarch64-linux-gnu/"}) {
    if (rest.starts_with(part)) rest.remove_prefix(part.size());
  }
  return rest;
}

}  // namespace

std::string AsIncluded(const std::string& path, const std::vector<std::string>& folders) {
  std::string_view best = path;
  for (const std::string& folder : folders) {
    if (folder.empty() || !std::string_view(path).starts_with(folder)) continue;
    std::string_view rest = std::string_view(path).substr(folder.size());
    while (rest.starts_with('/')) rest.remove_prefix(1);
    if (rest.size() < best.size()) best = rest;
  }
  if (best.size() < path.size()) return std::string(best);
  return std::string(BelowInclude(path));
}

}  // namespace cupilot::source
