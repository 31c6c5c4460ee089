// Base64 (RFC 4648), as in our documents: structures passed by value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::base {

std::string EncodeBase64(std::string_view bytes);

// kInvalidArgument for other characters or a wrong length.
Result<std::vector<std::byte>> DecodeBase64(std::string_view text);

}  // namespace cupilot::base
