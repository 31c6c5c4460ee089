// The double twin of a kernel: the same text with float arithmetic done in double, against which
// errors are measured (design, section 6).
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::source {

// Declines, with a reason, what cannot be widened without changing what the kernel means: casts
// between floats and other types in memory, bit casts, unions, structures with floating members in
// buffers, half types, inline assembly, kernel templates; and kernels that do no float arithmetic.
// Inputs are to be given as the exact double values of the floats; outputs stay double. An error
// only if the parser cannot run. Pure but for reading headers; any thread.
base::Result<protocol::TwinReply> Twin(const protocol::TwinRequest& request);

}  // namespace cupilot::source
