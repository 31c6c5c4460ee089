// What `cupilot explain` says, for other commands too.
#pragma once

#include "client/output.h"

namespace cupilot::client {

// Of cupilot.explain/1: the winner, what was tried and why the rest did not apply.
void PrintExplanation(const records::Json& document, Output& output);

}  // namespace cupilot::client
