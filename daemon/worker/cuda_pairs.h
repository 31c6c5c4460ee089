// Original and candidate timed on a GPU (design, section 6, Measure): device-side time, cold by
// rotation over copies of all buffers and warm on one copy, short kernels in graphs. In the runner.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/cuda/cuda_device.h"
#include "records/json.h"

namespace cupilot::worker {

// What a probe leaves in the device's memory for those that come after it: copies of buffers of
// hundreds of megabytes are not brought again, and a long original is not timed again each time.
struct KeptProbe {
  std::string contents;  // of the request; empty: nothing is kept
  std::size_t copies = 0;
  double original_us = 0;  // of a launch; 0: it is short, and timed beside each candidate
  double best = 0;         // the least share of the original's time that one took; 0: unknown
  int uses = 0;            // since the memory was written
  std::chrono::steady_clock::time_point timed;  // when the original was
};

// `request`: {"modules": [original, candidate], "programs": [...], "bytes": of one copy of the
// buffers, "restore": [[offset, bytes], ...] of what launches change and read again, "poison":
// [[offset, bytes, byte], ...] of what one more sample of the candidate finds there, "seconds",
// "probe_limit", "most_pairs", "contents": names what the mapping and the original are, for probes
// that come one after the other}. The buffers' contents are in the mapping. The reply is that of
// TakePairs on cold buffers, with "warm": the same on one copy (absent where launches change what
// they read), "copies", "launches" (of one sample) and "graph". In the
// mapping are the results of that sample then, unless it stopped early. With "only_original" that
// is timed for probes that follow, and the reply is empty. The device's memory is written over at
// the end, but for a probe that leaves it to the next one, which `kept` says.
base::Result<records::Json> TakeCudaPairs(device::cuda::CudaDevice& device,
                                          const std::vector<device::ModuleInfo>& infos,
                                          std::span<std::byte> memory, const records::Json& request,
                                          KeptProbe& kept);
// Opens what tells whether the GPU is slowed down, which else the first measurement waits for.
void BeginSlowdownWatch();
// Before anything but a probe of these contents uses the device; nothing where none is kept.
base::Result<> ForgetProbe(device::cuda::CudaDevice& device, KeptProbe& kept);

// How many copies of the buffers, so that going round them finds nothing in an L2 of that size: at
// least two, their sum above three times the L2, as far as `free_bytes` go. Pure.
std::size_t CopiesFor(std::size_t bytes, std::size_t l2_bytes, std::size_t free_bytes);

}  // namespace cupilot::worker
