#include "worker/child.h"

#include <signal.h>

#include <cstring>

#include "base/child.h"

extern char** environ;

namespace cupilot::worker {

base::Result<pid_t> StartChild(std::vector<std::string> words,
                               const posix_spawn_file_actions_t& actions,
                               std::optional<pid_t> group,
                               std::optional<std::vector<std::string>> environment) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  short flags = POSIX_SPAWN_SETSIGDEF;
  if (group) {
    posix_spawnattr_setpgroup(&attributes, *group);
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  posix_spawnattr_setflags(&attributes, flags);
  std::vector<char*> variables;
  if (environment) variables = base::ArgumentPointers(*environment);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, words[0].c_str(), &actions, &attributes,
                    base::ArgumentPointers(words).data(), environment ? variables.data() : environ);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  return base::Fail(base::Unavailable("cannot start " + words[0] + ": " + std::strerror(error)));
}

}  // namespace cupilot::worker
