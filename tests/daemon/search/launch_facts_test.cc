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

std::vector<double> FactsOf(const NumberSpace& numbers, const Point& point) {
  const auto solved = Solve(numbers, {1000});
  EXPECT_TRUE(solved);
  const auto made = LaunchFacts::Make(numbers, solved->space);
  EXPECT_NE(made, nullptr);
  std::vector<double> facts;
  if (made != nullptr) {
    made->Append(point, facts);
    EXPECT_EQ(facts.size(), made->count());
  }
  return facts;
}

// X=32, Y=64: 128 times 64 blocks of 256 threads and 8 KiB, of which 8 have room by either.
TEST(LaunchFacts, AreOfALaunch) {
  EXPECT_THAT(FactsOf(Tiles(), {1, 2}), ElementsAre(256, 8192, 2097152, 8192, 8, 103));
}

TEST(LaunchFacts, SharedMemoryLeavesRoomForFewer) {
  NumberSpace numbers = Tiles();
  numbers.limits.shared_bytes = 20000;
  EXPECT_THAT(FactsOf(numbers, {1, 2}), ElementsAre(256, 8192, 2097152, 8192, 2, 410));
}

// An architecture's multiprocessor has fewer threads than others, and more shared memory than a
// block may have.
TEST(LaunchFacts, AMultiprocessorHasWhatItsArchitectureHas) {
  NumberSpace numbers = Tiles();
  numbers.limits.sm_threads = 1536;
  EXPECT_THAT(FactsOf(numbers, {1, 2}), ElementsAre(256, 8192, 2097152, 8192, 6, 137));
  numbers.limits.shared_bytes = 20000;
  numbers.limits.sm_shared_bytes = 40000;
  EXPECT_THAT(FactsOf(numbers, {1, 2}), ElementsAre(256, 8192, 2097152, 8192, 4, 205));
}

TEST(LaunchFacts, WhatIsNotKnownIsZero) {
  NumberSpace numbers = Tiles();
  numbers.grid = {"sm_count", "4"};
  numbers.multiprocessors = 0;
  EXPECT_THAT(FactsOf(numbers, {0, 0}), ElementsAre(128, 0, 0, 1024, 16, 0));
}

TEST(LaunchFacts, WhereNoLaunchDependsOnATunableThereAreNone) {
  NumberSpace numbers = Tiles();
  numbers.block = numbers.grid = {"1", "1", "1"};
  numbers.shared_bytes = "0";
  const auto solved = Solve(numbers, {1000});
  ASSERT_TRUE(solved);
  EXPECT_EQ(LaunchFacts::Make(numbers, solved->space), nullptr);
}

}  // namespace
}  // namespace cupilot::search
