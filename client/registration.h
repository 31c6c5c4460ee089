// Says to the daemon that a build tree exists: a file in the user's state folder.
#pragma once

#include <string>

namespace cupilot::client {

// Writes projects/<hash>.json of the state folder and, where `daemon` is given, starts that program
// detached, without waiting for it; one that finds another instance running ends by itself. What
// fails is printed and stops nobody.
void RegisterBuildTree(const std::string& build_folder, const std::string& daemon);

}  // namespace cupilot::client
