// The gallery's sources, as texts to analyse.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace cupilot::source {

inline std::vector<std::string> GallerySources() {
  std::vector<std::string> sources;
  const std::string folder = std::string(CUPILOT_TEST_SOURCE_DIR) + "/examples/gallery";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") sources.push_back(entry.path());
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

}  // namespace cupilot::source
