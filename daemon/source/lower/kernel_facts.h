// What lowering has to know of a kernel and of the functions that it reaches. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "source/syntax/tree.h"

namespace cupilot::source {

// The C library's function that `assert` calls.
inline constexpr const char* kAssertion = "__assert_fail";

struct KernelFacts {
  bool synchronises = false;      // reaches a barrier or a warp operation
  bool needs_current = false;     // a function that it calls asks for threadIdx and its relatives
  std::int64_t shared_bytes = 0;  // of static shared arrays
};

KernelFacts KernelFactsOf(const Tree& tree, NodeId kernel);
// All threads run as if they waited, where each is to be one to the thread sanitizer.
inline KernelFacts LoweredFactsOf(const Tree& tree, NodeId kernel, bool thread_sanitizer) {
  KernelFacts facts = KernelFactsOf(tree, kernel);
  facts.synchronises |= thread_sanitizer;
  return facts;
}

// The kernel whose body holds the node (lambdas inside a kernel are the kernel's), kNone otherwise.
NodeId KernelAround(const Tree& tree, NodeId id);

}  // namespace cupilot::source
