// Loops over the elements of large buffers, on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "base/processors.h"

namespace cupilot::device {

// `body(begin, end)` on disjoint stretches, none of them empty, that cover [0, count); returns when
// all are done. A further thread is started only for `grain` of them.
template <class Body>
void InParallel(std::int64_t count, const Body& body, std::int64_t grain = 1 << 15) {
  // An empty buffer has no address that memcmp and its like may be given.
  if (count <= 0) return;
  static const std::int64_t processors = base::UsableProcessors();
  const std::int64_t parts = std::min(processors, std::max<std::int64_t>(1, count / grain));
  std::vector<std::thread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(
        [&body, count, part, parts] { body(count * part / parts, count * (part + 1) / parts); });
  }
  body(std::int64_t{0}, count / parts);
  for (std::thread& thread : threads) thread.join();
}

// Whether both hold the same bytes. (std::equal goes byte by byte where they are std::byte.)
inline bool SameBytes(const std::byte* a, const std::byte* b, std::size_t bytes) {
  std::atomic<bool> same = true;
  InParallel(
      static_cast<std::int64_t>(bytes),
      [&](std::int64_t begin, std::int64_t end) {
        if (std::memcmp(a + begin, b + begin, static_cast<std::size_t>(end - begin)) != 0) {
          same = false;
        }
      },
      1 << 20);
  return same;
}

}  // namespace cupilot::device
