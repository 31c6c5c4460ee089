// cupilot.evaluation/1 for people; evaluate and tune print it.
#pragma once

#include "client/output.h"
#include "records/json.h"

namespace cupilot::client {

// What bounds each case, before and after; nothing where that was not looked at.
void PrintRoofline(const records::Json& evaluation, Output& output);

void PrintEvaluation(const records::Json& evaluation, Output& output);

}  // namespace cupilot::client
