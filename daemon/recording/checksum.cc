#include "recording/checksum.h"

#include <cstring>

namespace cupilot::capture {
namespace {

__extension__ using Wide = unsigned __int128;

// The two halves of a product, folded: unlike a product's low half alone, in which a word's top bit
// moves nothing but the top bit, so that a few flipped signs could cancel each other.
std::uint64_t Fold(std::uint64_t state, std::uint64_t word, std::uint64_t factor) {
  const Wide product = static_cast<Wide>(state ^ word) * factor;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t kFactor = 0xff51afd7ed558ccdull;
constexpr std::uint64_t kOtherFactor = 0xc4ceb9fe1a85ec53ull;
constexpr std::uint64_t kOtherStart = 0x2545f4914f6cdd1dull;

std::uint64_t WordAt(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  return word;
}
// Of fewer than 8 bytes, marked with their number.
std::uint64_t LastWord(const char* at, std::size_t count) {
  std::uint64_t word = static_cast<std::uint64_t>(count) << 56;
  std::memcpy(&word, at, count);
  return word;
}

}  // namespace

std::uint64_t ContinueChecksum(std::uint64_t state, const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  for (; count >= 8; count -= 8, at += 8) state = Fold(state, WordAt(at), kFactor);
  return count == 0 ? state : Fold(state, LastWord(at, count), kFactor);
}

// The chains do not wait for each other, so that all cost little more than the checksum alone.
BlobSums SumBlob(std::uint64_t start, const void* bytes, std::size_t count) {
  BlobSums sums{kChecksumStart, kOtherStart, start};
  const char* at = static_cast<const char*>(bytes);
  for (; count >= 16; count -= 16, at += 16) {
    const std::uint64_t even = WordAt(at);
    const std::uint64_t odd = WordAt(at + 8);
    sums.even = Fold(sums.even, even, kOtherFactor);
    sums.odd = Fold(sums.odd, odd, kOtherFactor);
    sums.chunk = Fold(Fold(sums.chunk, even, kFactor), odd, kFactor);
  }
  sums.even = ContinueChecksum(sums.even, at, count);
  sums.chunk = ContinueChecksum(sums.chunk, at, count);
  return sums;
}

}  // namespace cupilot::capture
