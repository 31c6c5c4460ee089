// Runs a user's program as the user would: with our terminal, folder and descriptors. Blocking.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/ending_signals.h"

namespace cupilot::client {

// It runs in `folder` (empty: ours). `environment` is added to ours. What it prints goes where ours
// goes, or all of it to standard error (`quiet`), where standard output is for a document. While it
// runs, what is sent to end us ends it. Its status as of waitpid(); kInvalidArgument if it cannot
// be started.
base::Result<int> RunChildProgram(const std::vector<std::string>& words,
                                  const std::map<std::string, std::string>& environment, bool quiet,
                                  EndingSignals& signals, const std::string& folder = {});

}  // namespace cupilot::client
