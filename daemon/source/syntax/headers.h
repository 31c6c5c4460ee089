// Where headers are: clang's own, the host compiler's, and what a header is called in an #include.
#pragma once

#include <string>
#include <vector>

namespace cupilot::source {

// The host's triple as clang names it ("x86_64-pc-linux-gnu").
std::string HostTriple();

// Folders of the C++ and C library as the distribution's g++ searches them, with clang's own
// headers in their place. Asked once a process; thread-safe.
const std::vector<std::string>& HostSystemFolders(const std::string& resource_dir);

// "/usr/include/c++/12/cmath" -> "cmath"; `folders` are further include folders. A path below none
// of them stays as it is.
std::string AsIncluded(const std::string& path, const std::vector<std::string>& folders);

}  // namespace cupilot::source
