// Which files a confined process may reach. Everything that is not listed is out of its reach: the
// homes of users, secrets in /etc, sockets in /run.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::worker {

// Absolute paths of folders (with all that is below them) and files. What does not exist is left
// out silently when a process is confined.
struct Access {
  std::vector<std::string> read;   // and run programs from
  std::vector<std::string> write;  // and read; existing folders
  bool gpus = false;               // the nodes in /dev that a driver opens

  bool operator==(const Access&) const = default;
};

// What every process of ours needs: the system's programs and libraries, ours, and this machine's
// description. It leaves out the home folders: the folder at the top that holds $HOME, /home and
// /root; /etc but for what the loader and compilers read; what /proc says of other processes; /run,
// /var, /tmp.
Access SystemAccess();

// Both together, each path once.
Access Joined(Access one, const Access& other);
// Whether who has `wide` may reach all of `narrow`.
bool Covers(const Access& wide, const Access& narrow);

records::Json ToJson(const Access& access);
base::Result<Access> ParseAccess(const records::Json& json);

}  // namespace cupilot::worker
