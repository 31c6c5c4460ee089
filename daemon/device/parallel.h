// Loops over the elements of large buffers, on all processors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace cupilot::device {

// `body(begin, end)` on disjoint stretches that cover [0, count); returns when all are done. A
// thread gets at least `grain` of them.
template <class Body>
void InParallel(std::int64_t count, const Body& body, std::int64_t grain = 1 << 15) {
  const std::int64_t processors = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t parts = std::min(processors, count / grain + 1);
  std::vector<std::thread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(
        [&body, count, part, parts] { body(count * part / parts, count * (part + 1) / parts); });
  }
  body(std::int64_t{0}, count / parts);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace cupilot::device
