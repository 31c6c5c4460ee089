// The part of a swapped source that is the same in all of them: C++11 text, for nvcc 12 and 13 and
// for cupilot-nvcc, with everything static in `namespace { namespace cupilot_swap { ... } }`.
//
// What it promises at run time: no locks and no allocation once a kernel has been launched on a
// device; the thread's last error is never set, cleared or seen by us where it was not success
// before; a call of ours that fails is cleared and the original runs; an illegal launch goes to the
// original.
#pragma once

#include <string>

namespace cupilot::source {

// Includes, handle types, declaration of cupilot_real, structures. The generated tables follow:
//   kernel_count, function_count, functions[] (originals first, then entries), kernels[],
//   variants[].
std::string HookPrologue();

// What needs the tables: look-up, preparing, checks, launching. The generated variant functions and
// select() follow.
std::string HookMachinery();

// Arenas for workspaces and the capture check, for variants that need them.
std::string HookWorkspaces();

// The statistics and the hook itself, with this name; closes what the prologue opened.
std::string HookEpilogue(const std::string& hook);

}  // namespace cupilot::source
