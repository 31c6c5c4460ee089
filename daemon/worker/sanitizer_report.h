// What compute-sanitizer has to say of a run.
#pragma once

#include <string>
#include <vector>

namespace cupilot::worker {

// One of its tools, and what an error that it reports is called here.
struct SanitizerTool {
  const char* name;    // as its option --tool takes it
  const char* error;   // how each of its errors of kernels begins
  const char* reason;  // of records::kReasons
  // Without that (protocol::BuildReply::lacks) there is nothing that it could find; empty: always
  // something.
  const char* needs;
};
extern const std::vector<SanitizerTool> kSanitizerTools;

// The first error of a kernel in a tool's log, in one line; empty where there is none. Warnings and
// calls of the driver that failed are none.
std::string FirstError(const SanitizerTool& tool, const std::string& log);

}  // namespace cupilot::worker
