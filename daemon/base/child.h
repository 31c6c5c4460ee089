// Child processes, below the event loop.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cupilot::base {

// Waits for a child of ours, however often a signal interrupts that; its status as of waitpid(), -1
// where there is no such child. Blocks the calling thread.
int WaitForEnd(pid_t pid);

// How a child ended, by its status: "ended with 3", "was ended by Aborted".
std::string EndingText(int status);

// What exec and posix_spawn take: views of the words, and a null pointer. They hold as long as the
// words do.
std::vector<char*> ArgumentPointers(std::vector<std::string>& words);

}  // namespace cupilot::base
