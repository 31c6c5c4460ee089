// CUDA text to C++ text for the host device: kernels become loops over the threads of a block (or
// threads that wait for each other, where the kernel synchronises), launches become calls.
#pragma once

#include <string>

#include "base/result.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

struct LowerOptions {
  // What a kernel's launcher function calls: __cudaLaunchKernel, or what the command line defines
  // it as.
  std::string launch_function = "__cudaLaunchKernel";
  std::string architecture = "host-x86-64";  // written into the module's table
  // A candidate exports its table as `cupilot_host_module` instead of registering it at start-up.
  bool candidate = false;
  // Separable compilation: __device__ functions and variables are visible to other objects.
  bool relocatable = false;
  // For the thread sanitizer: every thread runs on its own, so that each race of two is one of its
  // threads; reads beside atomicCAS are atomic (atomic_reads.h).
  bool thread_sanitizer = false;
  // For watched runs (cupilot_host_watch.h): the same, and each static shared array says where it
  // is.
  bool watch = false;
};

// The tree of a preprocessed or self-contained text whose headers are the host device's. Pure;
// kUnsupported names what cannot be lowered. The result compiles as C++11 and up with g++.
base::Result<std::string> Lower(const Tree& tree, const LowerOptions& options);

}  // namespace cupilot::source
