// Where a kernel's text computes blockIdx.x * width + threadIdx.x, and which of the conditions that
// it begins with decide by it. What is found here lets a kernel run as long loops without branches.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "source/syntax/tree.h"

namespace cupilot::source {

// A condition, or one part of an && or ||, that is true for all threads of a row up to one, or from
// one on.
struct Bound {
  NodeId condition = kNone;
  bool leaves = false;  // the thread ends where it is true; otherwise where it is false
  bool upper = false;   // what keeps the thread holds up to some x ...
  bool lower = false;   // ... or from some x on; both: x does not matter
};

// The width of sums that multiply by blockDim.x.
inline constexpr const char* kBlockWidth = "::cupilot_host::block_width";

struct ThreadIndex {
  std::vector<NodeId> sums;         // the expressions; outermost nodes, in the order of the text
  std::string width = kBlockWidth;  // the same in all sums
  bool flat = false;                // threadIdx.x and blockIdx.x occur in them only
  std::vector<Bound> bounds;
  // Statements that declare what the bounds use, in order.
  std::vector<NodeId> declarations;
};

ThreadIndex ThreadIndexOf(const Tree& tree, NodeId kernel);

// `int i = blockIdx.x * blockDim.x + threadIdx.x;` computes unsigned and converts. Modulo 2^32 the
// signed sum is the same. Finds the unsigned parts (members of built-in variables, and `sums`) that
// have to be converted for that; false if the initialiser is no such sum.
bool IsSignedSum(const Tree& tree, NodeId variable, const std::vector<NodeId>& sums,
                 std::vector<NodeId>& parts);

}  // namespace cupilot::source
