// How rows of cupilot.list/1 are called: by their kernel, and where several have the same one (a
// Debug and a Release tree of one source, two targets), also by what tells them apart.
#pragma once

#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::client {

// Of each row, in their order: "blur", "blur (release)".
std::vector<std::string> KernelNames(const records::Json& rows);

}  // namespace cupilot::client
