// A launch's values as the double twin takes them: each number in its wider type. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/worker_messages.h"
#include "records/kernel.h"

namespace cupilot::worker {

// A scalar's bytes, or a vector's lane by lane; others stay as they are.
std::vector<std::byte> WideBytes(const records::Parameter& parameter,
                                 const std::vector<std::byte>& bytes);

// Where the widened structure has what the original has at byte `from`.
std::int64_t PlaceOf(const protocol::TwinStructure& structure, std::int64_t from);
// The bytes of a structure of the original, member by member.
std::vector<std::byte> WideStructure(const protocol::TwinStructure& structure,
                                     const std::vector<std::byte>& bytes);

}  // namespace cupilot::worker
