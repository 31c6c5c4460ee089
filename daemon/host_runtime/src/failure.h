// Why the last kernel failed, in words, for people; and what cannot go on.
#pragma once

#include <string>

namespace cupilot_host {

void SetFailureText(const std::string& text);
// A thread of a kernel that has failed (fibers.cc): whether it waits for others of its block, and
// the end of that block.
bool IsWaitingKernel();
[[noreturn]] void FailBlock(int error);
[[noreturn]] void Die(const char* text);

}  // namespace cupilot_host
