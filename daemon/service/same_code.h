// Candidates that were built to the same code and are launched in the same way: one result is
// enough for all of them. Pure.
#pragma once

#include <string>

#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::service {

// The same for variants that launch one kernel of theirs with equal geometry, shared memory and
// arguments in each case of the workload; empty where that cannot be said: several kernels, whose
// code is not told apart here.
std::string LaunchKey(const records::Variant& variant, const records::Workload& workload);

}  // namespace cupilot::service
