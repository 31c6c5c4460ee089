// The stage "verify" of the gate: the candidate's results against the original's, on the workload's
// own inputs and further ones.
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::worker {

// A rejection is a value; errors are failures of the environment.
base::Result<protocol::VerifyReply> Verify(const protocol::VerifyRequest& request);

}  // namespace cupilot::worker
