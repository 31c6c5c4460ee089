// The files that tune and evaluate are given, read and checked before anything is started, so that
// an error names the file and the key.
#pragma once

#include "base/result.h"
#include "client/arguments.h"
#include "records/json.h"

namespace cupilot::client {

// The params of the verb: absolute paths, parsed documents. kInvalidArgument for every bad input.
base::Result<records::Json> SourceParams(const Arguments& arguments);

}  // namespace cupilot::client
