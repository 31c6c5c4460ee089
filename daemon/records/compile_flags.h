// Which words of a compiler's command line may change the code that it makes.
#pragma once

#include <string>
#include <vector>

namespace cupilot::records {

// The arguments without output, dependency-file, debug and warning options. -dc and -rdc=true
// change the code by what they imply; -dc is kept as the latter.
std::vector<std::string> RelevantArguments(const std::vector<std::string>& arguments);

}  // namespace cupilot::records
