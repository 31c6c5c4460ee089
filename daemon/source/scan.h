// The source worker's operations on a translation unit: which tagged kernels it has, and the
// original with other values of its own tunables. Both parse with clang (30 to 500 ms) and may be
// called from any thread.
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::source {

// Fails only where nothing at all can be said (the file is missing, no toolkit is found); what is
// wrong with a tag or cannot be tuned is a warning with file and line, and Kernel::declined.
base::Result<protocol::ScanReply> Scan(const protocol::ScanRequest& request);

// Declined with a reason where the copy of what depends on the macros cannot stand in a namespace
// of its own.
base::Result<protocol::RewriteReply> Retune(const protocol::RetuneRequest& request);

}  // namespace cupilot::source
