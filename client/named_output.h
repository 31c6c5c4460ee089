// Files that a user names for what a command writes (-o).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cupilot::client {

// As base::WriteFileDurably, where there is nothing yet or a plain file. Of a link the file is
// written that it leads to, and the link stays; what is no plain file (a pipe, a device) stays what
// it is, and is written to.
base::Result<> WriteNamedOutput(const std::string& path, std::string_view text);

}  // namespace cupilot::client
