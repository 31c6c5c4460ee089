// Words of a command line in a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cupilot::base {

// Separated by any of `separators`, with quotes and backslashes as a shell reads them: the words of
// a response file, or of a line that a compiler prints of what it runs. Pure.
std::vector<std::string> ShellWords(std::string_view text, std::string_view separators = " \t\n\r");

}  // namespace cupilot::base
