// What `cupilot explain` says of a kernel beside its candidates: what the work on it cost, and what
// would be the next step, for the user or for the daemon.
#pragma once

#include <string>
#include <vector>

#include "records/json.h"
#include "service/service.h"

namespace cupilot::service {

// `seconds` that the daemon worked on it in this search, `evaluations` (verdicts in the store),
// `dollars` for language models.
records::Json CostJson(Service& service, const records::Kernel& kernel, const KernelJob* job);

// One sentence. `set`: what is proven; `published`: all of it is in the next build.
std::string NextStepOf(Service& service, const ObjectState& state, const records::Kernel& kernel,
                       const ProvenSet& set, bool published);

}  // namespace cupilot::service
