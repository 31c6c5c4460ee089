// The guard that is published with a variant: its own, and that everything is as it was when it was
// verified (integer scalars, geometry), that written ranges are disjoint from all others, and which
// pointers are null where one was. Pure.
#pragma once

#include <string>
#include <vector>

#include "records/kernel.h"
#include "records/variant.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

std::string PublishedGuard(const records::Kernel& kernel, const records::Variant& variant,
                           const std::vector<CasePlan>& cases);

// Whether the guard holds for one of the cases. What does not would be published and never run.
bool AdmitsAny(const std::string& guard, const records::Variant& variant,
               const std::vector<CasePlan>& cases);

}  // namespace cupilot::worker
