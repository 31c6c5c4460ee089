// The runtime's side of watched runs (cupilot_host_watch.h): what launches and fibers tell. All
// of a watch is on one operating-system thread at a time.
#pragma once

#include <cstddef>

#include "cupilot_host_lowered.h"

namespace cupilot_host::watch {

// Whether a watch lasts; the others are called only then. Asked at each switch of fibers.
inline bool is_on = false;
inline bool IsOn() { return is_on; }

void BeginLaunch();
// The memory of a block's dynamic shared array, between guards; "bytes" of it.
void* DynamicShared(std::size_t bytes);
// The block whose thread (0,0,0) is `first`.
void BeginBlock(const thread& first, unsigned int threads);
// Thread `index` goes on, on that stack; Leave: nobody's code runs.
void Enter(unsigned int index, const char* stack);
void Leave();
void PassBarrier();
void PassWarp(unsigned int first, unsigned int lanes);

}  // namespace cupilot_host::watch
