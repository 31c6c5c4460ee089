// Files and folders as they were when somebody looked last: a unit and its candidates are parsed
// dozens of times a second with the same hundreds of headers, and each look at the disk is a call
// of the system.
#pragma once

#include <string>

#include "base/file.h"

namespace cupilot::source {

// While one lives, this thread's parses see each file as it was when the first of them looked at
// it (or as a later one of another thread has found it). Of what earlier ones read, a file is asked
// for its time and size once, and what was not there by whether its folder has changed; what was
// changed less than two seconds before it was looked at is read again. Those within another one are
// part of it. Preprocess() and Parse() make one if there is none.
class FileSnapshot {
 public:
  FileSnapshot();
  ~FileSnapshot();
  FileSnapshot(const FileSnapshot&) = delete;
  FileSnapshot& operator=(const FileSnapshot&) = delete;
};

// As this thread's snapshot has it, with links followed; of what is no file: the size 0.
base::FileIdentity IdentifyAsSeen(const std::string& path);

// The same with links followed; a path that leads nowhere as it is.
std::string RealPath(const std::string& path);

}  // namespace cupilot::source
