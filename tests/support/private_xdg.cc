#include "tests/support/private_xdg.h"

#include <filesystem>

namespace cupilot::test {

PrivateXdg::PrivateXdg() {
  for (const char* name : {"config", "state", "cache", "run"}) {
    const std::string path = folder_ / name;
    std::filesystem::create_directories(path);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
}

std::map<std::string, std::string> PrivateXdg::Environment() const {
  return {{"HOME", folder_.path()},
          {"XDG_CONFIG_HOME", folder_ / "config"},
          {"XDG_STATE_HOME", folder_ / "state"},
          {"XDG_CACHE_HOME", folder_ / "cache"},
          {"XDG_RUNTIME_DIR", folder_ / "run"}};
}

}  // namespace cupilot::test
