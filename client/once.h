// One tune or evaluate without the service: `cupilotd --once` as a child, JSON lines both ways.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::client {

// `on_event` gets each progress line ({"event", "data"}). The result, or the error that the child
// reported; kToolFailed if it ended without either; kCancelled after an interrupt.
base::Result<records::Json> RunOnce(const records::Json& request,
                                    std::function<void(const records::Json& event)> on_event);

}  // namespace cupilot::client
