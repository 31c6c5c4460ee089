#include "base/paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"

namespace cupilot::base {
namespace {

// sun_path of a Unix socket's address holds 108 bytes with the final zero.
constexpr std::size_t kSocketPathLimit = 107;
constexpr std::size_t kSocketNameLength = 12;  // "/daemon.sock"

// The specification says that a relative path in these variables is to be ignored.
std::string AbsoluteVariable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || value[0] != '/') return {};
  return value;
}

std::string FolderFrom(const char* variable, const std::string& home, const char* fallback) {
  const std::string value = AbsoluteVariable(variable);
  return (value.empty() ? home + fallback : value) + "/cupilot";
}

}  // namespace

Result<UserFolders> FindUserFolders() {
  const std::string home = AbsoluteVariable("HOME");
  const bool complete = !AbsoluteVariable("XDG_CONFIG_HOME").empty() &&
                        !AbsoluteVariable("XDG_STATE_HOME").empty() &&
                        !AbsoluteVariable("XDG_CACHE_HOME").empty();
  if (home.empty() && !complete) {
    return Fail(
        Unavailable("HOME is not set to an absolute path; set it, or XDG_CONFIG_HOME, "
                    "XDG_STATE_HOME and XDG_CACHE_HOME"));
  }
  UserFolders folders;
  folders.config = FolderFrom("XDG_CONFIG_HOME", home, "/.config");
  folders.state = FolderFrom("XDG_STATE_HOME", home, "/.local/state");
  folders.cache = FolderFrom("XDG_CACHE_HOME", home, "/.cache");
  const std::string shared = "/tmp/cupilot-" + std::to_string(getuid());
  const std::string runtime = AbsoluteVariable("XDG_RUNTIME_DIR");
  folders.runtime = runtime.empty() ? shared : runtime + "/cupilot";
  if (folders.runtime.size() + kSocketNameLength > kSocketPathLimit) {
    folders.runtime = shared + "/" + HashHex(folders.state);
  }
  return folders;
}

Result<> MakePrivateFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    if (errno != ENOENT) {
      return Fail(
          Unavailable("cannot create " + path + ": " + std::generic_category().message(errno)));
    }
    Result<> made = MakeFolders(path);
    if (!made) return Fail(Unavailable(made.error().message));
  }
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0) {
    return Fail(
        Unavailable("cannot look at " + path + ": " + std::generic_category().message(errno)));
  }
  if (!S_ISDIR(status.st_mode)) {
    return Fail(Unavailable(path + " is not a folder; remove it, or choose another place by the "
                                   "XDG variables"));
  }
  if (status.st_uid != getuid()) {
    return Fail(
        Unavailable(path + " belongs to another user (uid " + std::to_string(status.st_uid) + ")"));
  }
  if ((status.st_mode & 0077) != 0) {
    return Fail(Unavailable(path + " is open to other users; run: chmod 700 " + path));
  }
  return {};
}

}  // namespace cupilot::base
