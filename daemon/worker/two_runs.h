// What two runs of an original on the same inputs say about each other, and which originals are
// known to vary.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "worker/reference.h"

namespace cupilot::worker {

bool IsAll(const std::byte* data, std::size_t size, std::byte value);

// Whether a floating output whose bits differ differs by more than sums in another order do.
bool FarApart(const Region& region, std::span<const std::byte> a, std::span<const std::byte> b,
              const ReferenceOutput& output);
// Whether an output whose bytes differ has the same ones where the original writes.
bool SameBits(const Region& region, std::span<const std::byte> a, std::span<const std::byte> b,
              const std::vector<bool>& unwritten);
// Finds the elements that both runs leave alone: these hold the poison of each run. False: another
// element differs, which may not.
bool FindUnwritten(const Region& region, std::span<const std::byte> a, std::span<const std::byte> b,
                   bool may_differ, ReferenceOutput& output);

// Originals (by the artifact) that gave other bits on inputs on which two runs had given the same
// ones. Whatever they give is asked more often. For this process.
bool KnownToVary(const std::string& artifact);
void NoteThatItVaries(const std::string& artifact);

}  // namespace cupilot::worker
