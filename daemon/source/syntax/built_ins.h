// CUDA's variables for a thread's place in block and grid, and the sum that kernels make of them.
// Pure.
#pragma once

#include <optional>
#include <string_view>

#include "source/syntax/tree.h"

namespace cupilot::source {

// A use (the kDeclRef), whole or by member, of threadIdx, blockIdx, blockDim or gridDim.
bool IsBuiltInVariable(const Tree& tree, NodeId reference);

// threadIdx.x, blockDim.y and the like.
struct Place {
  std::string_view variable;  // threadIdx, blockIdx, blockDim, gridDim
  char axis = 'x';
};
std::optional<Place> IndexOf(const Tree& tree, NodeId expression);

// blockIdx.d * width + threadIdx.d in any order, whatever the width is (never kNone; without
// parentheses and casts).
struct GlobalSum {
  char axis = 'x';
  NodeId width = kNone;
};
std::optional<GlobalSum> GlobalSumOf(const Tree& tree, NodeId expression);

}  // namespace cupilot::source
