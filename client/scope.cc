#include "client/scope.h"

#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "records/settings.h"

namespace cupilot::client {
namespace {

bool IsOnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string left = path == nullptr ? "" : path;
  while (!left.empty()) {
    const std::size_t end = left.find(':');
    const std::string folder = left.substr(0, end);
    if (!folder.empty() && ::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
    left = end == std::string::npos ? "" : left.substr(end + 1);
  }
  return false;
}

}  // namespace

std::vector<std::string> ScopeWordsFor(std::uint64_t memory_bytes) {
  std::vector<std::string> words = {"systemd-run", "--user",    "--scope",
                                    "--quiet",     "--collect", "--description=cuPilot daemon"};
  // A fifth of what other programs of the user get, where they want all.
  for (const char* property : {"CPUWeight=20", "IOWeight=20"}) {
    words.push_back(std::string("--property=") + property);
  }
  // Above it the system takes pages back and slows it down; nothing is killed.
  if (memory_bytes > 0) {
    words.push_back("--property=MemoryHigh=" + std::to_string(memory_bytes));
  }
  words.push_back("--");
  return words;
}

std::vector<std::string> ScopeWords(const base::UserFolders& folders) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool manages = runtime != nullptr && runtime[0] == '/' &&
                       base::FileExists(std::string(runtime) + "/systemd/private");
  if (!manages || !IsOnPath("systemd-run")) return {};
  // What is wrong in the file, the daemon says.
  const auto settings = records::ReadSettingsFile(folders.config + "/config.json");
  const double gigabytes = settings ? (*settings)["memory_gigabytes"].get<double>() : 0;
  return ScopeWordsFor(static_cast<std::uint64_t>(gigabytes * 0x1p30));
}

}  // namespace cupilot::client
