// The mechanical techniques: what each thinks of a kernel, and strategies made variants. Pure
// functions of their arguments; a technique looks at the syntax tree, never at names.
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::source {

// Applies the steps of the strategy, in order. Declined with a reason where a step is not safe.
base::Result<protocol::RewriteReply> Rewrite(const protocol::RewriteRequest& request);

// Every technique's opinion, with parameters worth trying, and what kind of kernel it is.
base::Result<protocol::ProposeReply> Propose(const protocol::ProposeRequest& request);

}  // namespace cupilot::source
