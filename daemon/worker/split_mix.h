// Random words by number, so that elements can be drawn in any order.
#pragma once

#include <cstdint>

namespace cupilot::worker {

// Word `index` of the sequence that `key` begins: a function of its arguments alone (SplitMix64's
// output function; Steele, Lea, Flood 2014).
inline std::uint64_t SplitMix(std::uint64_t key, std::uint64_t index) {
  std::uint64_t x = key + (index + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace cupilot::worker
