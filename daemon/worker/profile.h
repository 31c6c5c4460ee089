// The stage "profile": why each case takes as long as it does, by its place on the roofline, before
// and after. Evidence beside a verdict, never part of one. GPUs only.
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::worker {

// By case:
//   {"source": "cupti" | "static", "reason": why there are no counters,
//    "necessary": {"read": bytes, "written": bytes}, "seconds": what it took,
//    "original": {"bound", "share", "shares", "operations", "launches", "counters"} and "variant":
//    the same; without counters "instructions" in place of them,
//    "peaks": {"read", "write", "copy": bytes a microsecond,
//              "arithmetic": {pipe: operations a microsecond}}}
// The original's is kept for the candidates that follow.
base::Result<protocol::ProfileReply> Profile(const protocol::ProfileRequest& request);

}  // namespace cupilot::worker
