// BLAKE2b-160 (RFC 7693, by libsodium), the one hash of the system: ids, cache keys, file contents.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace cupilot::base {

// 40 lower-case hexadecimal digits.
std::string HashHex(std::string_view bytes);

// Hashes several parts so that no two different sequences of parts run together: each part is
// preceded by its length.
class Hasher {
 public:
  Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  ~Hasher();
  Hasher& Add(std::string_view part);
  // Ends the hash; the object may not be used afterwards.
  std::string Hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupilot::base
