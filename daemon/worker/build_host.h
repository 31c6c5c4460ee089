// The stage "build" for the host device: a self-contained CUDA text to a shared object, by the host
// toolkit's compiler. Content-addressed: the same text and flags are built once.
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::worker {

base::Result<protocol::BuildReply> BuildHost(const protocol::BuildRequest& request);

// The recorded command's options that change code: optimisation, standard, architecture, floating
// point. Pure.
std::vector<std::string> CodeOptions(const records::CompileCommand& command);

}  // namespace cupilot::worker
