// What a worker's request needs of the file system, found out before anything of it is parsed or
// compiled.
#pragma once

#include <string>

#include "records/json.h"
#include "worker/sandbox/access.h"

namespace cupilot::worker {

// `kind`: "source" or "build". A parser may read the project of its compile command: the CMake
// source and build trees, the source's own folder, the include folders, and where links among them
// lead. A compiler may read its toolkit and itself, and write into the folder of built candidates.
// On top of SystemAccess(). What the request does not say needs nothing.
Access AccessOf(const std::string& kind, const records::Json& request);

// A folder for the compilers' temporary files in what is to be written; empty: nothing is.
std::string TemporaryFolder(const Access& access);

}  // namespace cupilot::worker
