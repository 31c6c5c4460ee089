// cupilot.status/1 for people; status, snooze and resume print it.
#pragma once

#include "client/output.h"
#include "records/json.h"

namespace cupilot::client {

void PrintStatus(const records::Json& status, Output& output);

}  // namespace cupilot::client
