// The last step of a strategy that wins at some sizes and loses at others: the variant is for the
// former. It adds to the guard and changes nothing else, so that what wins is what was measured.
#include <algorithm>

#include "records/expression.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"

namespace cupilot::source {
namespace {

// What a launch says of its size: scalars, by name or position, and its geometry.
bool SaysSize(const records::Kernel& kernel, const std::string& name) {
  if (name == "shared_bytes") return true;
  if (std::any_of(std::begin(kAxes), std::end(kAxes), [&](const std::string& axis) {
        return name == "grid_" + axis || name == "block_" + axis;
      })) {
    return true;
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const records::Parameter& parameter = kernel.parameters[i];
    if (name != parameter.name && name != "$" + std::to_string(i)) continue;
    return parameter.kind == records::ParameterKind::kInteger ||
           parameter.kind == records::ParameterKind::kFloating;
  }
  return false;
}

}  // namespace

base::Result<std::string> ApplySizeClass(Draft& draft, const records::Json& parameters) {
  const std::string guard = WordOf(parameters, "guard", "");
  if (guard.empty()) return base::Fail(base::InvalidArgument("guard: it is needed"));
  auto parsed = records::Expression::Parse(guard);
  if (!parsed) return base::Fail(parsed.error().In("guard"));
  for (const std::string& name : parsed->Names()) {
    if (!SaysSize(draft.kernel, name)) {
      return base::Fail(base::InvalidArgument("guard: '" + name + "' says nothing of a size"));
    }
  }
  AddGuard(draft, guard);
  return "for launches with " + guard;
}

}  // namespace cupilot::source
