#include "base/install_layout.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include "base/file.h"

// The folders below the prefix, as the build installs them (root CMakeLists.txt).
#ifndef CUPILOT_LIBEXEC_DIR
#define CUPILOT_LIBEXEC_DIR "libexec/cupilot"
#endif
#ifndef CUPILOT_HOST_TOOLKIT_DIR
#define CUPILOT_HOST_TOOLKIT_DIR "lib/cupilot/host_toolkit"
#endif
#ifndef CUPILOT_SHARE_DIR
#define CUPILOT_SHARE_DIR "share/cupilot"
#endif
#ifndef CUPILOT_CMAKE_DIR
#define CUPILOT_CMAKE_DIR "lib/cmake/CuPilot"
#endif

namespace cupilot::base {
namespace {

std::string Parent(const std::string& folder) {
  const std::size_t slash = folder.rfind('/');
  if (slash == std::string::npos || slash == 0) return {};
  return folder.substr(0, slash);
}

std::string Locate(const char* variable, const std::string& relative) {
  const char* value = variable == nullptr ? nullptr : std::getenv(variable);
  if (value != nullptr && value[0] != '\0') return value;
  // Where it was found once it stays while this process lives.
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(relative); found != known.end()) return found->second;
  const std::string start = ExecutableFolder();
  const std::string prefix = PrefixWith(start, relative);
  // Without any, the place where an installation would have it: errors then name a useful path.
  if (prefix.empty()) return Parent(start) + "/" + relative;
  return known[relative] = prefix + "/" + relative;
}

}  // namespace

std::string PrefixWith(const std::string& start, const std::string& relative) {
  const std::string suffix = "/" + relative;
  for (std::string folder = start; !folder.empty(); folder = Parent(folder)) {
    if (FileExists(folder + suffix)) return folder;
  }
  return {};
}

std::string LibexecFolder() { return Locate("CUPILOT_LIBEXEC", CUPILOT_LIBEXEC_DIR); }

std::string HostToolkitFolder() { return Locate("CUPILOT_HOST_TOOLKIT", CUPILOT_HOST_TOOLKIT_DIR); }

std::string ShareFolder() { return Locate("CUPILOT_SHARE", CUPILOT_SHARE_DIR); }

std::string PromptsFolder() {
  const char* value = std::getenv("CUPILOT_PROMPTS");
  if (value != nullptr && value[0] != '\0') return value;
  return ShareFolder() + "/prompts";
}

std::string CmakeModuleFolder() { return Locate(nullptr, CUPILOT_CMAKE_DIR); }

}  // namespace cupilot::base
