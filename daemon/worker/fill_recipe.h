// From a workload's fill to the generator's recipe, and the recipes of the gate's own fills.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device/fill.h"
#include "records/expression.h"
#include "records/workload.h"

namespace cupilot::worker {

struct Layout;

// Bounds of floating elements are decimal numbers or expressions, of integers expressions.
base::Result<device::FillRecipe> RecipeOf(const records::Fill& fill,
                                          const device::ElementType& type, std::int64_t count,
                                          const records::Environment& environment);

// A fill that says what integers mean, so that they may be drawn again: not a file, a constant or a
// counting sequence.
bool IsGenerator(device::FillKind kind);

// One fill of the gate: how a case's inputs are drawn. Dense fills and probes have limits of their
// own (error_rule.h).
struct GateFill {
  const char* name;
  bool dense;
  device::FillKind kind;
  std::int64_t nonzeros;  // kSparse
  bool active;            // used by Verify now
  double scale = 1;       // kSparse; of types with few bits always 1
};

// The workload's own fill is not in this table; it is always first and dense.
extern const std::vector<GateFill> kGateFills;

// Contents of every input region of a case, each at its place (by region). `fill` null: the
// workload's. True if anything may differ from the workload's own contents.
base::Result<bool> FillInputs(const Layout& layout, const GateFill* fill, std::uint64_t seed,
                              const records::Environment& environment,
                              const std::vector<std::byte*>& places);

}  // namespace cupilot::worker
