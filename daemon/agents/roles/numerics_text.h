// What a workload says about results, in words.
#pragma once

#include <string>

#include "records/workload.h"

namespace cupilot::agents {

// How far results may move: equal bits, a declared tolerance, or the gate's own rule
// (worker/NUMERICS.md).
std::string NumericsText(const records::Workload& workload, bool bitwise);
// Names of outputs whose order is free, in any case; empty: there is none.
std::string FreeOrderOutputs(const records::Workload& workload);
// Whether arguments share a buffer in any case.
bool HasOverlaps(const records::Workload& workload);

}  // namespace cupilot::agents
