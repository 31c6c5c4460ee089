#include "worker/child.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <utility>

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

base::Result<SpokenTo> StartOnArena(std::vector<std::string> words, int arena, ErrorOutput errors,
                                    std::optional<pid_t> group,
                                    std::optional<std::vector<std::string>> environment) {
  int to_child[2], from_child[2];
  if (::pipe2(to_child, O_CLOEXEC) != 0) return base::Fail(base::IoError("pipe"));
  if (::pipe2(from_child, O_CLOEXEC) != 0) {
    ::close(to_child[0]);
    ::close(to_child[1]);
    return base::Fail(base::IoError("pipe"));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
  posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
  if (errors == ErrorOutput::kNowhere) {
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, arena, 3);
  const auto pid = StartChild(std::move(words), actions, group, std::move(environment));
  posix_spawn_file_actions_destroy(&actions);
  ::close(to_child[0]);
  ::close(from_child[1]);
  if (pid) return SpokenTo{*pid, to_child[1], from_child[0]};
  ::close(to_child[1]);
  ::close(from_child[0]);
  return base::Fail(pid.error());
}

}  // namespace cupilot::worker
