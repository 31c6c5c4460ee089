// What a worker's child processes have in common.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::worker {

// `words`: the program's path and its arguments. A worker ignores SIGPIPE, and what is ignored
// would stay so in what it starts: not here. `group`: the process group that it enters; none: ours.
// `environment`: "NAME=value" each; none: ours. kUnavailable: it cannot be started.
base::Result<pid_t> StartChild(std::vector<std::string> words,
                               const posix_spawn_file_actions_t& actions,
                               std::optional<pid_t> group = std::nullopt,
                               std::optional<std::vector<std::string>> environment = std::nullopt);

// One that is spoken to through its standard input, answers on its standard output, and shares
// memory with this process: as its descriptor 3 it gets `arena`.
struct SpokenTo {
  pid_t pid = -1;
  int input = -1, output = -1;  // our ends, of the caller to close
};
enum class ErrorOutput { kOurs, kNowhere };  // where its standard error goes
// As StartChild(); kIo: no pipes.
base::Result<SpokenTo> StartOnArena(
    std::vector<std::string> words, int arena, ErrorOutput errors,
    std::optional<pid_t> group = std::nullopt,
    std::optional<std::vector<std::string>> environment = std::nullopt);

}  // namespace cupilot::worker
