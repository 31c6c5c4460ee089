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

}  // namespace cupilot::worker
