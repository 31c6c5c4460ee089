// Whether a build tool is at work.
#pragma once

#include <string>

namespace cupilot::service {

// True while a make, ninja or ctest of the user's works in the folder or below: also between two
// compiles, and while nothing but linking is left. Looks at all processes; `proc` is for tests.
bool BuildToolWorksIn(const std::string& build_folder, const std::string& proc = "/proc");

}  // namespace cupilot::service
