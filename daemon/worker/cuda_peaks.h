// What a GPU can do at most, measured: the yardstick of the roofline. In the runner.
#pragma once

#include "device/cuda/cuda_device.h"
#include "records/json.h"

namespace cupilot::worker {

// Bytes a microsecond by what is done with large buffers: "read", "write", "copy" (both counted);
// "launch_us": an empty launch, as one of a graph. "arithmetic": operations a microsecond of the
// whole device by pipe ("fp32", "fp64", "fp16", "integer", "special", "tensor"; a multiply-add is
// two), each from independent chains of one instruction in enough warps; what the GPU does not have
// is absent. "tensor" is mma.sync on halves, which is not all that newer GPUs can. The memory's
// contents are lost. kUnavailable: no free memory.
base::Result<records::Json> TakeCudaPeaks(device::cuda::CudaDevice& device);

}  // namespace cupilot::worker
