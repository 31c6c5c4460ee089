// A watched run in the runner: one run of a program of what was built for it, with every access of
// its kernels looked at (cupilot_host_watch.h). Host device.
#pragma once

#include <span>

#include "base/result.h"
#include "device/device.h"
#include "records/json.h"
#include "worker/prepared_program.h"

namespace cupilot::worker {

// `request`: "ranges" [[name, offset, bytes, element's bytes, read only, empty], ...], "accesses"
// at most, "poison" of shared memory. The reply: "findings" [[kind, name, detail, times, line],
// ...], "accesses", "stopped" (at their limit; what was found so far holds), "failure" where a
// kernel ended its launch: a barrier that some threads do not reach, __trap(), assert().
base::Result<records::Json> TakeWatchedRun(device::Device& device, PreparedProgram& program,
                                           std::span<std::byte> memory,
                                           const records::Json& request);

}  // namespace cupilot::worker
