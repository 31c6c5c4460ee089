// How texts made from a kernel's closure are parsed: closures with a variant, twins, candidates.
#pragma once

#include <string>

#include "source/syntax/parse.h"

namespace cupilot::source {

// For self-contained texts: with our runtime's headers, which every device shares for parsing.
ParseOptions ClosureParseOptions();

// The first error as "line 3, column 7: what", empty if there is none.
std::string FirstError(const ParseOutcome& outcome);

}  // namespace cupilot::source
