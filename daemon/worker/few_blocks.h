// The first blocks of a launch alone, for tools that make a kernel a thousand times slower.
#pragma once

#include <string_view>

#include "records/json.h"

namespace cupilot::worker {

// Leaves of a program of one launch (program.h) at most 16 blocks. False, and the program as it
// was: it has more launches, no more blocks, or `code` (all text that runs) may ask how many blocks
// there are. Where nobody asks, those that run do what they would do among all of them.
bool LeaveFewBlocks(std::string_view code, records::Json& program);

}  // namespace cupilot::worker
