// `cupilotd --once`: one request of `cupilot tune` or `evaluate`, without the service.
#pragma once

#include "base/paths.h"
#include "service/settings.h"

namespace cupilot {

// Reads the request, a line, from standard input, and answers on standard output (service/once.h),
// also what went wrong. The exit code.
int RunOnce(const base::UserFolders& folders, const service::Settings& settings);

}  // namespace cupilot
