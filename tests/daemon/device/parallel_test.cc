#include "device/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cupilot::device {
namespace {

TEST(InParallel, CoversEachOnce) {
  for (const std::int64_t count : {1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    InParallel(
        count,
        [&](std::int64_t begin, std::int64_t end) {
          EXPECT_LT(begin, end);
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        },
        1);
    for (const std::atomic<int>& times : seen) EXPECT_EQ(times, 1) << count;
  }
}

TEST(InParallel, CallsNothingForNothing) {
  InParallel(0, [](std::int64_t, std::int64_t) { ADD_FAILURE(); });
}

TEST(SameBytes, EmptyBuffersNeedNoAddress) { EXPECT_TRUE(SameBytes(nullptr, nullptr, 0)); }

TEST(SameBytes, OneByteDiffersAnywhere) {
  const std::vector<std::byte> a(3 << 20, std::byte{7});
  for (const std::size_t at : {std::size_t{0}, a.size() / 2, a.size() - 1}) {
    std::vector<std::byte> b = a;
    EXPECT_TRUE(SameBytes(a.data(), b.data(), a.size()));
    b[at] = std::byte{8};
    EXPECT_FALSE(SameBytes(a.data(), b.data(), a.size())) << at;
  }
}

}  // namespace
}  // namespace cupilot::device
