// How texts made from a kernel's closure are parsed: closures with a variant, twins, candidates.
#pragma once

#include <string>

#include "base/result.h"
#include "records/kernel.h"
#include "source/syntax/parse.h"

namespace cupilot::source {

// For self-contained texts: with our runtime's headers, which every device shares for parsing.
ParseOptions ClosureParseOptions(const records::Kernel& kernel);

// The same with the headers of the toolkit that compiles the kernel. Only where there is one.
ParseOptions ToolkitParseOptions(const records::Kernel& kernel);

// Parses such a text: as `options` say, or, where these lack a header that it includes or
// something that it names, with the toolkit's headers.
base::Result<ParseOutcome> ParseClosure(const records::Kernel& kernel, const std::string& text,
                                        const ParseOptions& options);
base::Result<ParseOutcome> ParseClosure(const records::Kernel& kernel, const std::string& text);

// The standard that a closure is read in: its source's own, C++17 where that is older.
std::string ClosureStandard(const std::string& written);

// The first error as "line 3, column 7: what", empty if there is none.
std::string FirstError(const ParseOutcome& outcome);

}  // namespace cupilot::source
