// What a kernel's closure contains that matters beyond its text: barriers and atomics, the globals
// that it reads, and constructs that cannot be tuned yet.
#pragma once

#include <string>
#include <vector>

#include "records/kernel.h"
#include "source/closure.h"
#include "source/syntax/tree.h"
#include "source/tags.h"

namespace cupilot::source {

struct Constructs {
  bool synchronises = false;  // reaches a barrier, a warp intrinsic or shared memory
  bool uses_atomics = false;
  std::vector<records::ClosureGlobal> globals;
  std::vector<std::string> uninitialised;  // globals whose declaration gives no values
  std::string declined;  // "file:line: why" of the first construct that cannot be handled; or empty
};

// `host`: the kernel runs on the host device.
Constructs InspectClosure(const Tree& tree, const Closure& closure, const Places& places,
                          bool host);

}  // namespace cupilot::source
