// What the hardware says of one program's launches. In the runner.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "records/json.h"

namespace cupilot::worker {

// {"op": "counters", "module": 1, "program": {...}, "bytes", "restore": [[offset, bytes], ...],
//  "metrics": [names], "toolkits": [folders that may have CUPTI]}
//   -> {"launches": [{"kernel", "registers", "shared_bytes", "local_bytes", "blocks_per_sm",
//       "occupancy"}], "counters": {name: value}, "passes": n}
// from cold buffers; without counters "reason" says why there are none. A metric of which nothing
// was counted is absent. The first request of a process costs most of a second.
base::Result<records::Json> TakeCudaCounters(device::cuda::CudaDevice& device,
                                             const std::vector<device::ModuleInfo>& infos,
                                             std::span<std::byte> memory,
                                             const records::Json& request);

}  // namespace cupilot::worker
