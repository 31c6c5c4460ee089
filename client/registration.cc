#include "client/registration.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "records/json.h"

namespace cupilot::client {
namespace {

// The grandchild has a session of its own, no descriptor of the build's and is nobody's to wait
// for.
[[noreturn]] void BecomeDaemon(const std::string& daemon, const std::string& log) {
  setsid();
  if (fork() != 0) _exit(0);
  const int null = open("/dev/null", O_RDWR);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(null, STDIN_FILENO);
  dup2(out < 0 ? null : out, STDOUT_FILENO);
  dup2(out < 0 ? null : out, STDERR_FILENO);
  closefrom(3);
  if (chdir("/") != 0) _exit(1);
  execl(daemon.c_str(), daemon.c_str(), nullptr);
  std::perror(daemon.c_str());
  _exit(127);
}

base::Result<> WriteRegistration(const std::string& build_folder, std::string& state) {
  TRY_ASSIGN(const base::UserFolders folders, base::FindUserFolders());
  TRY(base::MakePrivateFolder(folders.state));
  state = folders.state;
  const records::Json json = {{"schema", "cupilot.registration/1"}, {"build_folder", build_folder}};
  const std::string path = folders.state + "/projects/" + base::HashHex(build_folder) + ".json";
  // Written again even if it is there: the daemon may have lost sight of a folder that was deleted.
  return base::WriteFileDurably(path, records::CompactJson(json) + "\n");
}

}  // namespace

void RegisterBuildTree(const std::string& build_folder, const std::string& daemon) {
  std::string state;
  if (const auto written = WriteRegistration(build_folder, state); !written) {
    std::fprintf(stderr, "cuPilot: this build tree is not registered: %s\n",
                 written.error().message.c_str());
    return;
  }
  if (daemon.empty()) return;
  const pid_t child = fork();
  if (child == 0) BecomeDaemon(daemon, state + "/start.log");
  if (child < 0) {
    std::perror("cuPilot: the daemon was not started");
    return;
  }
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace cupilot::client
