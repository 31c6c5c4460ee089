// Texts of ours and of tools, made the same on another day and on another machine: a prompt that is
// not is another prompt, and its recorded answer is not found.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::agents {

// Decimal numbers with two significant digits: for texts with measured times. Whole numbers stay.
std::string WithRoundedNumbers(std::string_view text);

// Absolute paths as their last part: a compiler's log names temporary files.
std::string WithoutFolders(std::string_view text);

}  // namespace cupilot::agents
