#include "base/hash.h"

#include <sodium.h>

#include <array>
#include <cstdint>

namespace cupilot::base {
namespace {

constexpr std::size_t kBytes = 20;

std::string Hex(const std::array<unsigned char, kBytes>& digest) {
  std::array<char, 2 * kBytes + 1> text{};
  sodium_bin2hex(text.data(), text.size(), digest.data(), digest.size());
  return {text.data(), 2 * kBytes};
}

}  // namespace

std::string HashHex(std::string_view bytes) {
  std::array<unsigned char, kBytes> digest{};
  crypto_generichash_blake2b(digest.data(), digest.size(),
                             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                             nullptr, 0);
  return Hex(digest);
}

struct Hasher::State {
  crypto_generichash_blake2b_state blake;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  crypto_generichash_blake2b_init(&state_->blake, nullptr, 0, kBytes);
}
Hasher::~Hasher() = default;

Hasher& Hasher::Add(std::string_view part) {
  std::array<unsigned char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(part.size()) >> (8 * i));
  }
  crypto_generichash_blake2b_update(&state_->blake, length.data(), length.size());
  crypto_generichash_blake2b_update(
      &state_->blake, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  return *this;
}

std::string Hasher::Hex() {
  std::array<unsigned char, kBytes> digest{};
  crypto_generichash_blake2b_final(&state_->blake, digest.data(), digest.size());
  return cupilot::base::Hex(digest);
}

}  // namespace cupilot::base
