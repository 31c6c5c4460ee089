// The folders of the XDG base directory specification that we use, private to the user.
#pragma once

#include <string>

#include "base/result.h"

namespace cupilot::base {

struct UserFolders {
  std::string config;   // $XDG_CONFIG_HOME/cupilot: config.json, written by the user
  std::string state;    // $XDG_STATE_HOME/cupilot: store, registrations (projects/), logs, lock
  std::string cache;    // $XDG_CACHE_HOME/cupilot: built candidates, snapshots; may be deleted
  std::string runtime;  // $XDG_RUNTIME_DIR/cupilot, else /tmp/cupilot-<uid>: the socket
};

// From the environment; the defaults of the specification where a variable is unset. kUnavailable
// without HOME. A runtime folder whose socket path would exceed 107 bytes (the limit of a Unix
// socket's address) is replaced by /tmp/cupilot-<uid>/<hash of the state folder>.
Result<UserFolders> FindUserFolders();

// Creates the folder with mode 0700, or checks that an existing one is a real directory, ours and
// closed to others; kUnavailable with the reason if not.
Result<> MakePrivateFolder(const std::string& path);

}  // namespace cupilot::base
