#include "search/launch_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::search {
namespace {

using ::testing::ElementsAre;

NumberSpace Tiles() {
  NumberSpace numbers;
  for (const char* name : {"X", "Y"}) {
    records::Tunable tunable;
    tunable.name = name;
    tunable.values = {16, 32, 64};
    tunable.default_value = 16;
    numbers.tunables.push_back(tunable);
  }
  numbers.constants.integers["width"] = 4096;
  numbers.block = {"X", "8", "1"};
  numbers.grid = {"ceil_div(width, X)", "width / Y"};
  numbers.shared_bytes = "X * Y * 4";
  numbers.limits.shared_bytes = 65536;
  numbers.multiprocessors = 10;
  return numbers;
}

std::vector<double> FactsOf(const NumberSpace& numbers, const Point& point,
                            const BuildReport& built = {}) {
  const auto solved = Solve(numbers, {1000});
  EXPECT_TRUE(solved);
  const auto made = LaunchFacts::Make(numbers, solved->space);
  EXPECT_NE(made, nullptr);
  std::vector<double> facts;
  if (made != nullptr) {
    made->Append(point, built, facts);
    EXPECT_EQ(facts.size(), made->count());
  }
  return facts;
}

// Threads of a block, blocks, all threads; registers, local bytes; shared bytes; threads that run
// at once on a multiprocessor, waves; bytes staged, bytes spilled.
//
// X=32, Y=64: 128 times 64 blocks of 256 threads and 8 KiB, of which 8 have room by either.
TEST(LaunchFacts, AreOfALaunch) {
  EXPECT_THAT(FactsOf(Tiles(), {1, 2}),
              ElementsAre(256, 8192, 2097152, 0, 0, 8192, 2048, 103, 67108864, 0));
}

// 64 registers a thread: 4 blocks' find room in 65,536. A KiB more of shared memory, which the
// compiler adds: 7 blocks.
TEST(LaunchFacts, WhatTheCompilerSaysLeavesRoomForFewer) {
  NumberSpace numbers = Tiles();
  numbers.limits.sm_registers = 65536;
  EXPECT_THAT(FactsOf(numbers, {1, 2}, {60, 0, 0, 16}),
              ElementsAre(256, 8192, 2097152, 60, 16, 8192, 1024, 205, 67108864, 33554432));
  EXPECT_THAT(FactsOf(numbers, {1, 2}, {16, 1024, 0, 0}),
              ElementsAre(256, 8192, 2097152, 16, 0, 9216, 1792, 118, 75497472, 0));
}

TEST(LaunchFacts, SharedMemoryLeavesRoomForFewer) {
  NumberSpace numbers = Tiles();
  numbers.limits.shared_bytes = 20000;
  EXPECT_THAT(FactsOf(numbers, {1, 2}),
              ElementsAre(256, 8192, 2097152, 0, 0, 8192, 512, 410, 67108864, 0));
}

// An architecture's multiprocessor has fewer threads than others, and more shared memory than a
// block may have.
TEST(LaunchFacts, AMultiprocessorHasWhatItsArchitectureHas) {
  NumberSpace numbers = Tiles();
  numbers.limits.sm_threads = 1536;
  EXPECT_THAT(FactsOf(numbers, {1, 2}),
              ElementsAre(256, 8192, 2097152, 0, 0, 8192, 1536, 137, 67108864, 0));
  numbers.limits.shared_bytes = 20000;
  numbers.limits.sm_shared_bytes = 40000;
  EXPECT_THAT(FactsOf(numbers, {1, 2}),
              ElementsAre(256, 8192, 2097152, 0, 0, 8192, 1024, 205, 67108864, 0));
}

TEST(LaunchFacts, WhatIsNotKnownIsZero) {
  NumberSpace numbers = Tiles();
  numbers.grid = {"sm_count", "4"};
  numbers.multiprocessors = 0;
  EXPECT_THAT(FactsOf(numbers, {0, 0}), ElementsAre(128, 0, 0, 0, 0, 1024, 2048, 0, 0, 0));
}

TEST(LaunchFacts, WhereNoBlockIsKnownThereAreNone) {
  NumberSpace numbers = Tiles();
  numbers.block.clear();
  const auto solved = Solve(numbers, {1000});
  ASSERT_TRUE(solved);
  EXPECT_EQ(LaunchFacts::Make(numbers, solved->space), nullptr);
}

}  // namespace
}  // namespace cupilot::search
