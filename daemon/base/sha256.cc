#include "base/sha256.h"

#include <sodium.h>

#include <array>

#include "base/base64.h"

namespace cupilot::base {

std::string Sha256Base64(std::string_view bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return EncodeBase64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace cupilot::base
