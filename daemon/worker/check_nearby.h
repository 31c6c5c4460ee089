// Checks of a run's results that know that an original may be right by luck on these very inputs
// (nearby.h): only where a candidate would be refused for its errors, the original's errors near
// its inputs are asked, no more draws than decide it. May run the original.
#pragma once

#include <functional>
#include <vector>

#include "worker/checks/check.h"
#include "worker/reference.h"

namespace cupilot::worker {

// What there is to find by the original's errors near, by region.
using JudgeByErrors = std::function<Finding(const std::vector<Rho>& errors)>;

// What becomes of a finding about errors.
base::Result<Finding> AskNearby(References& references, const OriginalResult& reference, bool dense,
                                Finding finding, const JudgeByErrors& judge);

// The checks that are asked, in their order.
base::Result<Finding> CheckNearby(References& references, const Observation& seen, Errors& errors,
                                  const std::function<bool(const CheckRow&)>& asked);

}  // namespace cupilot::worker
