// What is said of a command line that is not understood.
#pragma once

#include <string>
#include <vector>

#include "client/completion/description.h"

namespace cupilot::client {

// The one of `words` that `word` was probably meant to be: few letters are wrong, missing, too many
// or swapped. Empty: none is near.
std::string NearestWord(const std::string& word, const std::vector<std::string>& words);

// Several lines: what is wrong, what was probably meant, and whose --help shows the usage.
// `command`: as far as it was understood, "" or "daemon start". `rest`: the words that were not
// understood. `found`: what the parser says.
std::string WrongUsage(const DescribedProgram& program, const std::string& command,
                       const std::vector<std::string>& rest, const std::string& found);

}  // namespace cupilot::client
