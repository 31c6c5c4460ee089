// Many runs that differ in a few bytes of their inputs: the memory is set up once, and only what
// differs and the results go to and fro. In the runner:
//   {"op": "series", "module", "program", "bytes", "pokes": [[[at, "<base64>"], ...], ...],
//    "outputs": [[at, bytes], ...], "results": at}  -> {"microseconds": of all launches}
// Before each launch its poke's bytes, which are in no output, are written, and outputs are as they
// were before the first; afterwards the bytes are put back. What the outputs hold after launch k
// lies, one behind the other, in the memory from `results` on, k times the bytes of all of them
// further. Workspaces are left as they are.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "device/device.h"
#include "records/json.h"
#include "worker/prepared_program.h"

namespace cupilot::worker {

// kProtocolError: a place outside of the memory.
base::Result<records::Json> TakeSeries(device::Device& device, PreparedProgram& program,
                                       std::span<std::byte> memory, const records::Json& request);

}  // namespace cupilot::worker
