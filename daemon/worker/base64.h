// Base64 (RFC 4648) for structures passed by value.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::worker {

// kInvalidArgument for other characters or a wrong length.
base::Result<std::vector<std::byte>> DecodeBase64(std::string_view text);

}  // namespace cupilot::worker
