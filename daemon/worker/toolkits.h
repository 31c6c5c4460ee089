// Where programs of a CUDA toolkit are looked for.
#pragma once

#include <string>
#include <vector>

namespace cupilot::worker {

// The folders of toolkits, the best first: that of the recorded compile's program (`compiler`, as
// its command names it, in `compile_folder`), and the usual one.
std::vector<std::string> ToolkitsOf(const std::string& compiler, const std::string& compile_folder);

}  // namespace cupilot::worker
