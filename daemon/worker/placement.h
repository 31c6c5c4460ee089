// The same case with its buffers at other places of the arena: results must not depend on where
// they lie. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "worker/case_plan.h"

namespace cupilot::worker {

// Where the element type of a region may begin: the largest power of two that divides its size.
std::int64_t NaturalAlignment(const device::ElementType& type);

// Each region `shift` bytes behind a place that all types are aligned to, rounded up to what its
// own type needs.
CasePlan Shifted(const CasePlan& plan, std::int64_t shift);
// The last region first, and further from each other.
CasePlan Reversed(const CasePlan& plan);

// An arena as large as any of them needs.
std::size_t BytesOfAllPlacements(const CasePlan& plan);

}  // namespace cupilot::worker
