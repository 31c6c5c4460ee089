// Base64 (RFC 4648), as in our documents.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::base {

std::string EncodeBase64(std::string_view bytes);

}  // namespace cupilot::base
