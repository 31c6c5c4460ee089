// A host toolkit in a temporary folder for tests that parse closures: only its headers are needed.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cupilot::source {

// Makes HostToolkitFolder() a folder whose include/ is the source tree's. Once a process is enough.
inline void UseSourceTreeToolkit() {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("cupilot-toolkit-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::error_code ignored;
  std::filesystem::create_directory_symlink(
      std::string(CUPILOT_TEST_SOURCE_DIR) + "/daemon/host_runtime/include", folder + "/include",
      ignored);
  setenv("CUPILOT_HOST_TOOLKIT", folder.c_str(), 1);
}

// Removes it again.
inline void DropSourceTreeToolkit() {
  const char* folder = std::getenv("CUPILOT_HOST_TOOLKIT");
  std::error_code ignored;
  if (folder != nullptr) std::filesystem::remove_all(folder, ignored);
  unsetenv("CUPILOT_HOST_TOOLKIT");
}

}  // namespace cupilot::source
