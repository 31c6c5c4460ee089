// cupilot.evaluation/1 for people; evaluate and tune print it.
#pragma once

#include "client/output.h"
#include "records/json.h"

namespace cupilot::client {

void PrintEvaluation(const records::Json& evaluation, Output& output);

}  // namespace cupilot::client
