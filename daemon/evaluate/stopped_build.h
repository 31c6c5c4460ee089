// A build that took more of the processor than its search allows.
#pragma once

#include <string>

#include "base/error.h"
#include "records/evaluation.h"

namespace cupilot::evaluate {

// What to add to the worker's error, and to the evaluation's metrics: "build_stopped", since it is
// no verdict that holds (the limit is that of a search), and the limit as what it took. Empty where
// that is not what ended the worker. `limit`: seconds; 0: there was none.
std::string NoteStopped(const base::Error& error, double limit, records::Evaluation& evaluation);

}  // namespace cupilot::evaluate
