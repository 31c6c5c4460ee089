// The stage "verify" of the gate: the candidate's results against the original's, on the workload's
// own inputs and further ones.
#pragma once

#include <functional>

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::worker {

// A rejection is a value; errors are failures of the environment. `tell` is called with what has
// passed so far, after each step: VerifyRequest::passed of a later try, which goes on behind it.
base::Result<protocol::VerifyReply> Verify(
    const protocol::VerifyRequest& request,
    const std::function<void(const records::Json& passed)>& tell = {});

}  // namespace cupilot::worker
