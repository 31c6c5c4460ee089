// SHA-256 (FIPS 180-4, by libsodium), for formats of others that name it: a page's
// Content-Security-Policy. What is ours is hashed by hash.h.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::base {

// The 32 bytes as base64 with padding.
std::string Sha256Base64(std::string_view bytes);

}  // namespace cupilot::base
