// The part of a swapped source that is the same in all of them: C++11 text, for nvcc 11.8, 12 and
// 13 and for cupilot-nvcc, with everything static in `namespace { namespace cupilot_swap { ... }
// }`.
//
// What it promises at run time: no locks and no allocation once a kernel has been launched on a
// device; the thread's last error is never set, cleared or seen by us where it was not success
// before; a call of ours that fails is cleared and the original runs, also where a variant's launch
// is refused; an illegal launch goes to the original; no capture is disturbed by our questions, and
// what it records is the original, unless the compile defines CUPILOT_TUNED_GRAPHS.
#pragma once

#include <string>

namespace cupilot::source {

// Stands before the user's file: what it calls by name, cudaLaunchKernel and cudaLaunchKernelEx(C),
// comes to <hook>_call and <hook>_call_ex.
std::string HookCalls(const std::string& hook);

// Includes, handle types, declaration of cupilot_real, structures. The generated tables follow:
//   kernel_count, function_count, functions[] (originals first, then entries), kernels[],
//   variants[].
std::string HookPrologue();

// What the checks of VariantFunction need: beside the variants.
std::string HookTypes();

// Around our kernels, which device code does not call: the user's build sees no warning of them.
std::string HookQuietBegin();
std::string HookQuietEnd();

// A kernel without a body, compiled with every image: stands before the prologue.
std::string HookProbe();

// What needs the tables: look-up, preparing, checks, launching. The generated variant functions and
// select() follow.
std::string HookMachinery();

// What CUPILOT_DISABLE and CUPILOT_STATS ask for, and the counts that a program leaves at its end
// (hook_modes.cc). Part of the machinery.
std::string HookModes();

// What is asked of the driver, since it answers sooner than the runtime or alone knows.
std::string HookDriverEntries();

// Arenas for workspaces, for variants that need them (hook_workspaces.cc).
std::string HookWorkspaces();

// Where launcher functions call the public function (nvcc before 13): leads their calls to the
// hook. Stands behind all else, as part of the epilogue.
std::string HookStubs(const std::string& hook);

// The statistics and the hook itself, with this name; closes what the prologue opened.
std::string HookEpilogue(const std::string& hook);

}  // namespace cupilot::source
