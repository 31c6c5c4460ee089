// Which request of a worker starts next. Pure functions of what waits and what runs.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/workers.h"

namespace cupilot::evaluate {

// At most so many processes at once. A device has one, and a GPU one for each lane, whatever is
// said here. Host and GPU are counted apart: a search on a GPU keeps its processes busy, and
// a scan (which counts as the host's) would wait until that search is over.
struct WorkerLimits {
  std::array<int, kWorkerKinds> host{1, 2, 1, 1};  // for kernels of the host, and scans, by kind
  std::array<int, kWorkerKinds> gpu{1, 2, 1, 1};   // for kernels of GPUs
};

// One is left to the daemon and to who measures: who builds or reads has a lower priority.
inline constexpr int kCoresLeftToOthers = 1;
// On this many cores.
WorkerLimits LimitsFor(int cores);

// In how many lanes a GPU's proofs are, from 1 on: most of a proof is work of the processor, and
// each lane takes a context's memory on the GPU.
int ProofLanesFor(int cores);

// The first of `waiting` (the oldest first) that may start beside `running`:
//  - what is exclusive starts when nothing runs, and while it runs or waits its turn nothing that
//    came after it starts, or a stream of builds would keep a measurement waiting for ever;
//  - else whatever has a free process; none waits for a request of another kind or device;
//  - the monitor's requests wait for nobody and hold up nobody.
std::optional<std::size_t> NextToStart(const std::vector<const WorkerCall*>& waiting,
                                       const std::vector<const WorkerCall*>& running,
                                       const WorkerLimits& limits);

// Of which line the last looks on a GPU were, and how many in a row.
struct Streak {
  std::string line;
  int looks = 0;
};
inline constexpr int kMostInARow = 8;

// In the place of waiting[next]: where that is a look on a GPU, the first one of the streak's line,
// whose buffers lie in the GPU's memory already; after kMostInARow of them others are first.
std::size_t SameLineFirst(const std::vector<const WorkerCall*>& waiting, std::size_t next,
                          const Streak& streak);
// Whether it is one: of a line, for the device's own worker.
bool IsLook(const WorkerCall& call);

// Before which of `waiting` a call is put (their count: behind all): the first of its line, for
// workers of its kind, whose place is higher. It takes nobody's turn that is not of its line.
std::size_t PlaceInQueue(const std::vector<const WorkerCall*>& waiting, const WorkerCall& call);

}  // namespace cupilot::evaluate
