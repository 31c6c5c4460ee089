// Confinement of every process of ours that parses, compiles or runs what others wrote: files by
// Landlock, system calls by seccomp, limits on resources, and bubblewrap around all of it where it
// works. The daemon, the client and the device worker, which only start such processes and read
// what they say, are not confined.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/sandbox/access.h"
#include "worker/sandbox/filter.h"

namespace cupilot::worker {

struct ResourceLimits {
  std::size_t address_space_bytes = 0;  // beyond what is mapped now; 0: no limit
  std::size_t file_bytes = 0;           // of a file that is written
  std::size_t tasks = 0;                // processes and threads of the user, all; 0: no limit
};

// How many processes and threads the user has now: what a limit on them counts. To be asked outside
// of a namespace.
std::size_t TasksOfUser();

// No core files, and the given limits; for the calling process and its children.
base::Result<> LimitResources(const ResourceLimits& limits);

// The words that start a program confined from outside, to be put before its own: bubblewrap's, or
// none. `folder`: where it works. A process with a GPU is not put into bubblewrap: its number must
// be the one that the driver's management interface tells.
std::vector<std::string> WordsAround(const Access& access, const std::string& folder);

// The calling process, before it has threads: files and signals. kUnavailable where the sandbox is
// required (CUPILOT_REQUIRE_SANDBOX) and neither Landlock nor bubblewrap works.
base::Result<> ConfineFiles(const Access& access);

// What protects, in words: "bubblewrap, Landlock 7, seccomp, resource limits".
std::string DescribeSandbox();
// Why it is less than it should be, and what to do; empty: it is whole.
std::string WhatSandboxLacks();

}  // namespace cupilot::worker
