// A daemon that systemd runs for the user in a scope of its own: it outlives the terminal's
// session, gives way to the user's programs as a whole, and its memory can be limited.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/paths.h"

namespace cupilot::client {

// What goes in front of the daemon's command line; empty where systemd does not run for this user,
// or systemd-run is missing.
std::vector<std::string> ScopeWords(const base::UserFolders& folders);

// The same for a limit in bytes (0: none); what ScopeWords() finds out is given.
std::vector<std::string> ScopeWordsFor(std::uint64_t memory_bytes);

}  // namespace cupilot::client
