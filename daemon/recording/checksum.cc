#include <cstring>

#include "recording/format.h"

namespace cupilot::capture {
namespace {

// A step of a multiplicative hash (Knuth, The Art of Computer Programming, 6.4) over words.
std::uint64_t Mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0xff51afd7ed558ccdull;
  return state ^ (state >> 32);
}

}  // namespace

std::uint64_t ContinueChecksum(std::uint64_t state, const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  for (; count >= 8; count -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    state = Mix(state, word);
  }
  if (count > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, count);
    state = Mix(state, word ^ (static_cast<std::uint64_t>(count) << 56));
  }
  return state;
}

}  // namespace cupilot::capture
