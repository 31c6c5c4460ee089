// Random numbers that are the same with every standard library: the distributions of <random> are
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace cupilot::search {

// Uniform over 0 .. limit - 1; limit is not 0.
inline std::uint64_t Below(std::uint64_t limit, std::mt19937_64& random) {
  const std::uint64_t rest = (std::numeric_limits<std::uint64_t>::max() % limit + 1) % limit;
  while (true) {
    const std::uint64_t drawn = random();
    if (drawn <= std::numeric_limits<std::uint64_t>::max() - rest) return drawn % limit;
  }
}

// Uniform over [0, 1).
inline double Unit(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1.0p-53;
}

template <class T>
void Shuffle(std::vector<T>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(Below(i, random))]);
  }
}

}  // namespace cupilot::search
