#include "worker/sandbox/access.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/install_layout.h"

namespace cupilot::worker {
namespace {

namespace fs = std::filesystem;
using records::Json;

// "/home" for "/home/ann/project"; empty for "/" and for what is relative.
std::string TopOf(const std::string& path) {
  if (path.size() < 2 || path[0] != '/') return "";
  return path.substr(0, path.find('/', 1));
}

void AddUnique(std::vector<std::string>& paths, const std::string& path) {
  if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) {
    paths.push_back(path);
  }
}

// Where the loader of this process looks first.
std::vector<std::string> LibraryFolders() {
  const char* list = std::getenv("LD_LIBRARY_PATH");
  std::vector<std::string> folders;
  std::string rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (rest[0] == '/') folders.push_back(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  return folders;
}

// Whether `path` is one of `roots` or lies below one.
bool Below(const std::string& path, const std::vector<std::string>& roots) {
  return std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
    return path == root || root == "/" ||
           (path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/');
  });
}

}  // namespace

Access SystemAccess() {
  const char* home = std::getenv("HOME");
  const std::vector<std::string> kept = {"/home",
                                         "/root",
                                         "/etc",
                                         "/run",
                                         "/var",
                                         "/tmp",
                                         "/dev",
                                         "/boot",
                                         "/lost+found",
                                         "/proc",
                                         TopOf(home == nullptr ? "" : home)};
  Access access;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/", error)) {
    const std::string path = entry.path();
    if (!entry.is_directory(error)) continue;
    if (std::find(kept.begin(), kept.end(), path) == kept.end()) access.read.push_back(path);
  }
  std::sort(access.read.begin(), access.read.end());
  for (const char* path :
       {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf",   "/etc/ld.so.conf.d",
        "/etc/localtime",    "/etc/os-release",  "/etc/lsb-release",  "/etc/debian_version",
        "/proc/self",        "/proc/cpuinfo",    "/proc/meminfo",     "/proc/stat",
        "/proc/version",     "/proc/sys",        "/proc/filesystems", "/dev/null",
        "/dev/zero",         "/dev/full",        "/dev/random",       "/dev/urandom"}) {
    access.read.emplace_back(path);
  }
  const std::string prefix = base::PrefixWith(base::ExecutableFolder(), "lib/cupilot");
  for (const std::string& path :
       {base::LibexecFolder(), base::HostToolkitFolder(), base::ShareFolder(),
        base::ExecutableFolder(), prefix.empty() ? prefix : prefix + "/lib"}) {
    AddUnique(access.read, path);
  }
  for (const std::string& path : LibraryFolders()) AddUnique(access.read, path);
  access.write = {"/dev/null"};
  return access;
}

Access Joined(Access one, const Access& other) {
  for (const std::string& path : other.read) AddUnique(one.read, path);
  for (const std::string& path : other.write) AddUnique(one.write, path);
  one.gpus = one.gpus || other.gpus;
  return one;
}

bool Covers(const Access& wide, const Access& narrow) {
  const auto reads = [&](const std::string& path) {
    return Below(path, wide.read) || Below(path, wide.write);
  };
  return std::all_of(narrow.read.begin(), narrow.read.end(), reads) &&
         std::all_of(narrow.write.begin(), narrow.write.end(),
                     [&](const std::string& path) { return Below(path, wide.write); }) &&
         (wide.gpus || !narrow.gpus);
}

Json ToJson(const Access& access) {
  return {{"read", access.read}, {"write", access.write}, {"gpus", access.gpus}};
}

base::Result<Access> ParseAccess(const Json& json) {
  const auto is_list = [&](const char* key) {
    return json.contains(key) && json[key].is_array() &&
           std::all_of(json[key].begin(), json[key].end(),
                       [](const Json& path) { return path.is_string(); });
  };
  if (!json.is_object() || !is_list("read") || !is_list("write")) {
    return base::Fail(base::ProtocolError("access: expected {\"read\": [...], \"write\": [...]}"));
  }
  return Access{json["read"].get<std::vector<std::string>>(),
                json["write"].get<std::vector<std::string>>(), json.value("gpus", false)};
}

}  // namespace cupilot::worker
