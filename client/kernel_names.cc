#include "client/kernel_names.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "client/output.h"

namespace cupilot::client {
namespace {

using records::Json;

// What is the same of all builds of one kernel.
using Source = std::tuple<std::string, std::string, double>;

Source SourceOf(const Json& row) {
  return {TextOf(row, "kernel"), TextOf(row, "file"), NumberOf(row, "line")};
}

// So many of a path's last names.
std::string EndOf(const std::string& path, int names) {
  std::size_t begin = path.size();
  for (; names > 0 && begin != 0 && begin != std::string::npos; --names) {
    begin = path.rfind('/', begin - 1);
  }
  return begin == std::string::npos || begin == 0 ? path : path.substr(begin + 1);
}

// The shortest end of the row's build folder that no other build of its kernel has.
std::string BuildOf(const Json& row, const std::vector<const Json*>& same) {
  const std::string folder = TextOf(row, "project");
  for (int names = 1;; ++names) {
    const std::string end = EndOf(folder, names);
    const bool shared = std::any_of(same.begin(), same.end(), [&](const Json* other) {
      const std::string there = TextOf(*other, "project");
      return there != folder && EndOf(there, names) == end;
    });
    if (!shared || end == folder) return end;
  }
}

std::string NameOf(const Json& row, const std::vector<const Json*>& same) {
  const auto differs = [&](const char* key) {
    return std::any_of(same.begin(), same.end(),
                       [&](const Json* other) { return TextOf(*other, key) != TextOf(row, key); });
  };
  std::string apart;
  if (differs("project")) apart = BuildOf(row, same);
  if (differs("target")) apart += (apart.empty() ? "" : ", ") + TextOf(row, "target");
  return TextOf(row, "kernel") + (apart.empty() ? "" : " (" + apart + ")");
}

}  // namespace

std::vector<std::string> KernelNames(const Json& rows) {
  std::map<Source, std::vector<const Json*>> builds;
  for (const Json& row : rows) builds[SourceOf(row)].push_back(&row);
  std::vector<std::string> names;
  for (const Json& row : rows) names.push_back(NameOf(row, builds[SourceOf(row)]));
  return names;
}

}  // namespace cupilot::client
