// One watched run of a program, in a process of its own: what its kernels' accesses do that they
// may not (cupilot_host_watch.h). Host device.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/json.h"
#include "worker/case_inputs.h"
#include "worker/case_plan.h"

namespace cupilot::worker {

struct WatchFinding {
  int kind = 0;      // cupilot_host_watch_kind
  std::string name;  // of the buffer, the shared array, the variable; the file
  std::string detail;
  int line = 0;
};

struct WatchedRun {
  std::string failed;    // why there was none, or it did not end; empty: it did
  bool died = false;     // that is because its process did
  bool late = false;     // that is because it did not end, twice
  std::string failure;   // what a kernel did that ended the launch: a barrier not reached by all
  bool stopped = false;  // at the limit of accesses: there may be more to find
  double accesses = 0;
  std::vector<WatchFinding> findings;
  std::string outputs;  // a hash of them
};

// `program` (ToJson(Program)) of the artifact, on fresh `inputs`. `poison`: what shared memory
// holds at first. The run's own word is taken for what it found: it can only speak against itself.
// It ends at so many accesses (ten million take a second or so). kUnavailable: no process.
base::Result<WatchedRun> RunWatched(const std::string& artifact, const records::Json& program,
                                    const Layout& layout, const CaseInputs& inputs,
                                    unsigned char poison, unsigned long most_accesses);

}  // namespace cupilot::worker
