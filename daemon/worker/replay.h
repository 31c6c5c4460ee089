// Whether a captured case is evidence at all: run again on what the launch began with, the original
// must leave what it left in the program, every time.
#pragma once

#include "base/result.h"
#include "protocol/replay.h"

namespace cupilot::worker {

// kUnavailable: no device. That the original fails on a case, or gives other bits, that the case is
// illegal for the kernel, or its contents are gone, is in the reply: the other cases are as good.
base::Result<protocol::ReplayReply> Replay(const protocol::ReplayRequest& request);

}  // namespace cupilot::worker
