// The C++ that a kernel becomes, around its body, and the table of a unit's kernels. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "source/lower/edits.h"
#include "source/lower/kernel_facts.h"
#include "source/lower/lower.h"
#include "source/lower/thread_index.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// The kernel's definition stays where it is and becomes the body of one thread; what follows it
// runs a block of such threads, and is the launcher function that has the kernel's own name.
struct KernelText {
  std::string open;             // before all of it, `template <...>` too
  std::string before;           // at the beginning of the definition
  std::string body_name;        // instead of its name
  std::string first_parameter;  // after "("
  std::string after;            // behind it
};

// `structure`: what body and entry are members of (friend_kernels.h), "" for none.
KernelText WriteKernel(const Tree& tree, NodeId kernel, const KernelFacts& facts,
                       const ThreadIndex& index, const LowerOptions& options,
                       const std::string& structure);

// The table of include/cupilot_host_abi.h, registered or exported. Empty for a unit without kernels
// and variables that is no candidate.
std::string ModuleText(const Tree& tree, const LowerOptions& options,
                       const std::vector<NodeId>& kernels, const std::vector<NodeId>& variables,
                       const std::map<NodeId, std::string>& structures);

}  // namespace cupilot::source
