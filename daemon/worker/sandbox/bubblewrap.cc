#include "worker/sandbox/bubblewrap.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>

#include "base/child.h"
#include "base/compiler_program.h"
#include "base/file.h"
#include "worker/child.h"

namespace cupilot::worker {
namespace {

// The folders above before what is below: a later one covers what an earlier one shows there.
// Without what is there with a folder above it: a link could not be covered.
std::vector<std::string> Topmost(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> topmost;
  for (std::string& path : paths) {
    if (!Covers({topmost, {}, false}, {{path}, {}, false})) topmost.push_back(std::move(path));
  }
  return topmost;
}

bool Runs(std::vector<std::string> words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  const auto pid = StartChild(std::move(words), actions);
  posix_spawn_file_actions_destroy(&actions);
  if (!pid) return false;
  const int status = base::WaitForEnd(*pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string Probe() {
  const std::string program = base::FindProgram("bwrap", "");
  if (program.empty()) return "";
  std::vector<std::string> words = BubblewrapWords(program, SystemAccess(), "/");
  words.emplace_back(base::FileExists("/usr/bin/true") ? "/usr/bin/true" : "/bin/true");
  return Runs(std::move(words)) ? program : "";
}

}  // namespace

const std::string& Bubblewrap() {
  static const std::string program = Probe();
  return program;
}

std::vector<std::string> BubblewrapWords(const std::string& bubblewrap, const Access& access,
                                         const std::string& folder) {
  std::vector<std::string> words = {bubblewrap,
                                    "--unshare-all",
                                    "--die-with-parent",
                                    "--proc",
                                    "/proc",
                                    "--dev",
                                    "/dev",
                                    "--tmpfs",
                                    "/tmp",
                                    "--ro-bind-try",
                                    "/sys",
                                    "/sys",
                                    "--setenv",
                                    "CUPILOT_IN_BUBBLEWRAP",
                                    "1"};
  for (const std::string& path : Topmost(access.read)) {
    const bool made = path == "/sys" || path.starts_with("/proc/") || path.starts_with("/dev/");
    if (made) continue;
    // A link stays one: where it leads is listed, too, and programs look at what lies beside that.
    std::error_code error;
    const auto link = std::filesystem::read_symlink(path, error);
    if (error) {
      words.insert(words.end(), {"--ro-bind-try", path, path});
    } else {
      words.insert(words.end(), {"--symlink", link, path});
    }
  }
  for (const std::string& path : Topmost(access.write)) {
    if (!path.starts_with("/dev/")) words.insert(words.end(), {"--bind-try", path, path});
  }
  words.insert(words.end(), {"--chdir", folder, "--"});
  return words;
}

int SignalOf(int status) {
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return code > 128 && code < 128 + 32 ? code - 128 : 0;
}

}  // namespace cupilot::worker
