// cupilot.evaluation/1 for people; evaluate and tune print it.
#pragma once

#include <string>

#include "client/output.h"
#include "records/json.h"

namespace cupilot::client {

// What bounds each case, before and after; nothing where that was not looked at.
void PrintRoofline(const records::Json& evaluation, Output& output);

void PrintEvaluation(const records::Json& evaluation, Output& output);

// What a search believes is left ({"gain", "evaluations"}) and why it ended; a line, or nothing.
std::string ExpectedLine(const records::Json& document);
void PrintExpected(const records::Json& document, Output& output);

}  // namespace cupilot::client
