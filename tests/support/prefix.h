// An installation made of the build tree.
#pragma once

#include <filesystem>
#include <string>

namespace cupilot::test {

// The build tree's programs where an installation in `to` has them.
inline void MakePrefix(const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  const fs::path built = CUPILOT_TEST_BINARY_DIR;
  fs::create_directories(to / "lib/cmake/CuPilot");
  for (const char* name : {"bin", "libexec", "lib/cupilot"}) {
    fs::create_directory_symlink(built / name, to / name);
  }
  for (const char* name : {"CuPilotConfig.cmake", "CuPilotConfigVersion.cmake"}) {
    fs::copy(built / "cmake_module" / name, to / "lib/cmake/CuPilot");
  }
  fs::copy(fs::path(CUPILOT_TEST_SOURCE_DIR) / "cmake_module/CuPilot.cmake",
           to / "lib/cmake/CuPilot");
}

}  // namespace cupilot::test
