// How many processors this process may keep busy.
#pragma once

#include <string>

namespace cupilot::base {

// At least 1: those of the process's affinity mask, and no more than its control groups (version 2:
// `cpu.max` of its own and those above, kernel's Documentation/admin-guide/cgroup-v2.rst) let run
// at the same time; a part of one counts as one. `root` is where /proc and /sys are looked for:
// empty, but for tests. Reads files: not for hot loops. Any thread.
int UsableProcessors(const std::string& root = "");

}  // namespace cupilot::base
