// The technique "block_size": the same threads in blocks of another shape.
//
// Safe where a kernel asks for its place only as blockIdx.d * blockDim.d + threadIdx.d and its
// threads neither wait for each other nor share memory: then only the set of these indices matters.
// The new geometry covers exactly the same set, which the guard ensures (the product of grid and
// block is divisible), so that not even a bounds check is needed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "records/variant.h"
#include "source/syntax/tree.h"

namespace cupilot::source {

// kUnsupported with the reason where it is not safe.
base::Result<> CheckBlockSize(const Tree& tree, NodeId kernel, bool synchronises);

// The variant's launch and guard; `shape` has three sizes.
void ApplyBlockSize(const std::array<std::int64_t, 3>& shape, records::Launch& launch,
                    std::string& guard);

}  // namespace cupilot::source
