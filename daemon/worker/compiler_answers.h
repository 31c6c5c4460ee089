// What compilers say of the sources that requests to a source worker are about, added to these
// requests by the worker's outer process: the user's own command runs there as it does in a build,
// while who parses is confined.
#pragma once

#include <map>
#include <string>

#include "records/json.h"

namespace cupilot::worker {

class CompilerAnswers {
 public:
  // A scan gets what the compiler makes of its source now, or why it could not be asked; each
  // request with a command gets the compiler's macros and folders, as at the last scan. Runs the
  // command's preprocessing: 0.1 to 1 s for a scan. True: `request` is another one now.
  bool AddTo(records::Json& request);

 private:
  std::map<std::string, records::Json> setups_;  // by command; null: it could not be asked
};

}  // namespace cupilot::worker
