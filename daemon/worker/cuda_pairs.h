// Original and candidate timed on a GPU (design, section 6, Measure): device-side time, cold by
// rotation over copies of all buffers and warm on one copy, short kernels in graphs. In the runner.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/cuda/cuda_device.h"
#include "records/json.h"

namespace cupilot::worker {

// `request`: {"modules": [original, candidate], "programs": [...], "bytes": of one copy of the
// buffers, "restore": [[offset, bytes], ...] of what launches change and read again, "poison":
// [[offset, bytes, byte], ...] of what one more sample of the candidate finds there, "seconds",
// "probe_limit", "most_pairs"}. The buffers' contents are in the mapping. The reply is that of
// TakePairs on cold buffers, with "warm": the same on one copy (absent where launches change what
// they read), "copies", "launches" (of one sample) and "graph". In the
// mapping are the results of that sample then, unless it stopped early. The device's memory is
// written over at the end.
base::Result<records::Json> TakeCudaPairs(device::cuda::CudaDevice& device,
                                          const std::vector<device::ModuleInfo>& infos,
                                          std::span<std::byte> memory,
                                          const records::Json& request);

// How many copies of the buffers, so that going round them finds nothing in an L2 of that size: at
// least two, their sum above three times the L2, as far as `free_bytes` go. Pure.
std::size_t CopiesFor(std::size_t bytes, std::size_t l2_bytes, std::size_t free_bytes);

}  // namespace cupilot::worker
