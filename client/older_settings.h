// Settings are read when the daemon begins, and edited whenever the user likes.
#pragma once

#include <string>

#include "records/json.h"

namespace cupilot::client {

// A sentence where the daemon whose `status` this is began with other settings than the file has
// now, with what to do; else empty.
std::string OlderSettings(const records::Json& status);

}  // namespace cupilot::client
