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

// Calls `take` with each word, the last one filled up and marked with its length.
template <class Take>
void ForWords(const void* bytes, std::size_t count, Take take) {
  const char* at = static_cast<const char*>(bytes);
  std::uint64_t word = 0;
  for (; count >= 8; count -= 8, at += 8) {
    std::memcpy(&word, at, 8);
    take(word);
  }
  if (count == 0) return;
  word = static_cast<std::uint64_t>(count) << 56;
  std::memcpy(&word, at, count);
  take(word);
}

}  // namespace

std::uint64_t ContinueChecksum(std::uint64_t state, const void* bytes, std::size_t count) {
  ForWords(bytes, count, [&](std::uint64_t word) { state = Fold(state, word, kFactor); });
  return state;
}

// Chains that do not wait for each other cost little more than one of them.
BlobSums SumBlob(std::uint64_t start, const void* bytes, std::size_t count) {
  BlobSums sums{kChecksumStart, kOtherStart, start};
  ForWords(bytes, count, [&](std::uint64_t word) {
    sums.first = Fold(sums.first, word, kFactor);
    sums.second = Fold(sums.second, word, kOtherFactor);
    sums.chunk = Fold(sums.chunk, word, kFactor);
  });
  return sums;
}

}  // namespace cupilot::capture
