// How texts made from a kernel's closure are parsed: closures with a variant, twins, candidates.
#pragma once

#include <string>

#include "records/kernel.h"
#include "source/syntax/parse.h"

namespace cupilot::source {

// For self-contained texts: with our runtime's headers, which every device shares for parsing.
ParseOptions ClosureParseOptions(const records::Kernel& kernel);

// The standard that a closure is read in: its source's own, C++17 where that is older.
std::string ClosureStandard(const std::string& written);

// The first error as "line 3, column 7: what", empty if there is none.
std::string FirstError(const ParseOutcome& outcome);

}  // namespace cupilot::source
