// What a kernel is tuned on at a place, and what evaluations say of it. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/workload.h"
#include "service/place.h"

namespace cupilot::service {

// One job does for all objects that hold the same kernel with the same workload and contract at
// the same place.
std::string JobKey(const records::Kernel& kernel, const std::string& numerics, const Place& place);

// The workload that a kernel's tags declare; no cases if there is none.
records::Workload WorkloadOf(const records::Kernel& kernel);
// Without the cases that are not run at this place.
records::Workload WorkloadAt(const records::Kernel& kernel, const Place& place);

// Measured speedup over the original; also of a variant that was rejected as not faster.
std::optional<double> MeasuredSpeedup(const records::Evaluation& evaluation);

// The case that costs the program most.
const records::Case& HeaviestCase(const records::Workload& workload);

// The share of the floor that the case farthest from its own has reached: the search has nothing to
// gain only when none has. 0: not known of a case. Entries of a warm cache have no floor.
double LeastFloorShare(const records::Workload& workload, const records::Evaluation& evaluation);

// The lower end of what was proven when it was rejected for that; 0: it was not.
double BeatenBy(const records::Evaluation& evaluation);

}  // namespace cupilot::service
