// What a runner is to do for one case: launches with everything a number. Made by the judge; the
// runner evaluates nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "records/json.h"
#include "records/variant.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

struct Step {
  std::string kernel;  // qualified name in the module; empty: a fill
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;
  std::vector<ArgumentValue> arguments;
  std::int64_t fill_offset =
      0;  // a fill: bytes [offset, offset + bytes) of the arena become `byte`
  std::int64_t fill_bytes = 0;
  std::int64_t byte = 0;
};

struct Program {
  std::vector<Step> steps;
  std::vector<GlobalUse> globals;
};

// The original launch of a case; `kernel` names it in the module (the twin's may differ).
Program OriginalProgram(const CasePlan& plan, const std::string& kernel);

// The variant's launches; its workspaces become regions of the plan's layout. kInvalidArgument: an
// expression has no value or the geometry is impossible (invalid_launch); kUnsupported: a construct
// that cannot be run yet.
base::Result<Program> VariantProgram(const records::Kernel& kernel, const records::Variant& variant,
                                     CasePlan& plan);

// As the runner gets it. `base` is added to all offsets into the arena, `regions` gives the globals
// their places.
records::Json ToJson(const Program& program, const Layout& layout, std::int64_t base);

}  // namespace cupilot::worker
