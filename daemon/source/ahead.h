// What scanning a source and making candidates of its kernels begin with, done before it is asked
// for: a search on a GPU waits for its first candidates, while other processors have nothing to do.
#pragma once

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "source/command_flags.h"

namespace cupilot::source {

// Of a scan of this command: headers that its kernels' closures begin with are read and kept by
// threads beside it. Who asks for one that is being read waits for that one alone.
void BeginClosureHeaders(const CommandFlags& flags);
// And what other values of the unit's macros will be parsed behind.
void BeginUnit(const records::CompileCommand& command, const std::string& text);
// Until all of that is there.
void WaitForClosureHeaders();

// The operation of a process that is to make candidates: the source's unit, and what headers
// declare for its candidates. The errors of LoadUnit.
base::Result<> KeepForCandidates(const protocol::ScanRequest& request);

}  // namespace cupilot::source
