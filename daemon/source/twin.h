// The double twin of a kernel: the same text with its floating-point arithmetic done in a wider
// type, against which errors are measured (design, section 6).
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::source {

// Of single precision and less in double; of kernels whose arithmetic is double in long double,
// which the host device alone has. Declines, with a reason of one line, what cannot be widened
// without changing what the kernel means: casts between floats and other types in memory, bits of
// floats, unions, structures whose layout the text does not tell, assembly with floats; and kernels
// that do no floating-point arithmetic. Inputs are to be given as their exact values; outputs stay
// wide. An error only if the parser cannot run. Pure but for reading headers; any thread.
base::Result<protocol::TwinReply> Twin(const protocol::TwinRequest& request);

}  // namespace cupilot::source
