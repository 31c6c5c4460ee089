// One request to the daemon, as most commands make it.
#pragma once

#include <string>

#include "base/result.h"
#include "client/output.h"
#include "records/json.h"

namespace cupilot::client {

// Connects (starting the daemon on demand), warns of another version, asks.
base::Result<records::Json> AskDaemon(Output& output, const std::string& verb,
                                      const records::Json& params);

// The same of what the daemon knows by reading sources: one that was just started gets time for
// that. With a warning where it takes longer than people wait.
base::Result<records::Json> AskWhenRead(Output& output, const std::string& verb,
                                        const records::Json& params);

// {"kernel": KERNEL, "folder": the current folder}
records::Json KernelParams(const std::string& kernel);
std::string CurrentFolder();

// The path relative to the current folder where it lies below it.
std::string ShownPath(const std::string& path);

}  // namespace cupilot::client
