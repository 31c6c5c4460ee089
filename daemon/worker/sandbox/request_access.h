// What a worker's request needs of the file system, found out before anything of it is parsed or
// compiled.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "records/json.h"
#include "worker/sandbox/access.h"

namespace cupilot::worker {

// `kind`: "source" or "build". A parser may read the project of its compile command: the CMake
// source and build trees, the source's own folder, the include folders, and where links among them
// lead. A compiler may read its toolkit and itself, and write into the folder of built candidates.
// On top of SystemAccess(). What the request does not say needs nothing.
Access AccessOf(const std::string& kind, const records::Json& request);

// The same for requests one after another, most of which are about the same command: what links and
// build trees said holds for two seconds.
class RecentAccess {
 public:
  explicit RecentAccess(std::string kind) : kind_(std::move(kind)) {}
  const Access& Of(const records::Json& request);

 private:
  const std::string kind_;
  std::string about_;  // what it was found out for
  Access access_;
  std::chrono::steady_clock::time_point found_;
};

// A folder for the compilers' temporary files in what is to be written; empty: nothing is.
std::string TemporaryFolder(const Access& access);

}  // namespace cupilot::worker
