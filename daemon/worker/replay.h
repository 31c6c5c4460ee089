// Whether a captured case is evidence at all: run again on what the launch began with, the original
// must leave what it left in the program, every time.
#pragma once

#include "base/result.h"
#include "protocol/replay.h"

namespace cupilot::worker {

// kInvalidArgument: a case is illegal for the kernel; kUnavailable: no device, or no contents. That
// the original fails, or gives other bits, is in the reply.
base::Result<protocol::ReplayReply> Replay(const protocol::ReplayRequest& request);

}  // namespace cupilot::worker
