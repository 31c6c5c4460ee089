// What a GPU can do at most, measured: the yardstick of the roofline. In the runner.
#pragma once

#include "base/result.h"
#include "device/cuda/cuda_device.h"
#include "records/json.h"

namespace cupilot::worker {

// {"read", "write", "copy": bytes a microsecond on buffers far larger than the L2 (a copy counts
// both ways), "launch_us": an empty launch among others in a graph, "bytes": of the buffers}.
base::Result<records::Json> TakeCudaPeaks(device::cuda::CudaDevice& device);

}  // namespace cupilot::worker
