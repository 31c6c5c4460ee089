#include "service/build_tools.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file.h"

namespace cupilot::service {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTools[] = {"ninja", "ninja-build", "samu", "make", "gmake", "ctest"};

bool IsTool(const std::string& process) {
  const auto name = base::ReadFile(process + "/comm");
  return name && std::any_of(std::begin(kTools), std::end(kTools),
                             [&](const char* tool) { return *name == std::string(tool) + "\n"; });
}

}  // namespace

bool BuildToolWorksIn(const std::string& build_folder, const std::string& proc) {
  std::error_code error;
  fs::path folder = fs::canonical(build_folder, error);
  if (error) folder = build_folder;
  const std::string root = folder.string();
  for (const auto& entry : fs::directory_iterator(proc, error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!IsTool(entry.path())) continue;
    // Whose folder cannot be read is another user's.
    const std::string where = fs::read_symlink(entry.path() / "cwd", error).string();
    if (where == root || where.rfind(root + "/", 0) == 0) return true;
  }
  return false;
}

}  // namespace cupilot::service
