// What cannot run is known before it is built; what will probably not fit comes later.
#include "search/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/number_search.h"

namespace cupilot::search {
namespace {

using ::testing::HasSubstr;

records::Workload WorkloadOfWidth(const std::string& width) {
  records::Case one;
  one.name = "a";
  records::Argument argument;
  argument.name = "width";
  argument.type = "int";
  argument.value = width;
  one.arguments = {argument};
  one.grid = {"1", "1", "1"};
  one.block = {"64", "1", "1"};
  records::Workload workload;
  workload.cases = {one};
  return workload;
}

records::Variant Launched(std::vector<std::string> grid, std::vector<std::string> block,
                          const std::string& shared_bytes) {
  records::Launch launch;
  launch.entry = "v";
  launch.grid = std::move(grid);
  launch.block = std::move(block);
  launch.shared_bytes = shared_bytes;
  records::Variant variant;
  variant.launches = {launch};
  return variant;
}

std::string LimitHit(const records::Variant& variant, const std::string& arch = "sm_90") {
  const auto excess = WhyNotLaunched(variant, {}, WorkloadOfWidth("512"), LimitsOf(arch));
  return excess ? excess->limit : "";
}

TEST(Resources, OnlyWhatCannotRunIsBeyondALimit) {
  EXPECT_EQ(LimitHit(Launched({"1", "1", "1"}, {"32", "32", "1"}, "232448")), "");
  EXPECT_EQ(LimitHit(Launched({"1", "1", "1"}, {"32", "33", "1"}, "0")), "threads of a block");
  EXPECT_EQ(LimitHit(Launched({"1", "1", "1"}, {"1", "1", "65"}, "0")), "block");
  EXPECT_EQ(LimitHit(Launched({"1", "65536", "1"}, {"1", "1", "1"}, "0")), "grid");
  EXPECT_EQ(LimitHit(Launched({"65536", "1", "1"}, {"1", "1", "1"}, "0")), "");
  EXPECT_EQ(LimitHit(Launched({"1", "1", "1"}, {"1", "1", "1"}, "232449")), "shared memory");
  EXPECT_EQ(LimitHit(Launched({"1", "1", "1"}, {"4611686018427387904", "4", "1"}, "")),
            "threads of a block");
}

TEST(Resources, WhatIsNotKnownIsBeyondNothing) {
  EXPECT_EQ(LimitHit(Launched({}, {}, "")), "");
  EXPECT_EQ(LimitHit(Launched({"1", "1", "1"}, {"unknown", "1024", "1"}, "unknown")), "");
  EXPECT_EQ(LimitHit(Launched({"1", "1", "1"}, {"1", "1", "1"}, "1000000"), "sm_123"), "");
  EXPECT_EQ(LimitHit(Launched({"1", "70000", "1"}, {"1", "1", "128"}, "1000000"), "host-x86-64-v3"),
            "");
  EXPECT_EQ(LimitHit(Launched({"1", "1", "1"}, {"2048", "1", "1"}, ""), "host-x86-64-v3"),
            "threads of a block");
}

TEST(Resources, ALaunchCountsWhereItRuns) {
  records::Variant variant = Launched({"1", "1", "1"}, {"width * 4", "1", "1"}, "");
  const auto excess = WhyNotLaunched(variant, {}, WorkloadOfWidth("512"), LimitsOf("sm_90"));
  ASSERT_TRUE(excess);
  EXPECT_EQ(excess->detail, "case 'a': a block's threads are 2048, of at most 1024");
  EXPECT_FALSE(WhyNotLaunched(variant, {}, WorkloadOfWidth("128"), LimitsOf("sm_90")));
  variant.guard = "width < 512";
  EXPECT_EQ(LimitHit(variant), "");
  variant.guard = "aligned(in, 16)";  // nobody knows here
  EXPECT_EQ(LimitHit(variant), "");
  variant.guard = "";
  variant.launches[0].when = "width < 512";
  EXPECT_EQ(LimitHit(variant), "");
  variant.launches[0].when = "";
  variant.launches[0].repeat = {"width - 512", "i"};
  EXPECT_EQ(LimitHit(variant), "");
}

TEST(Resources, ABlockGetsRegistersByWarps) {
  const DeviceLimits limits = LimitsOf("sm_90");
  EXPECT_TRUE(FitsRegisters(64, 1024, limits));
  EXPECT_FALSE(FitsRegisters(65, 1024, limits));
  EXPECT_TRUE(FitsRegisters(255, 256, limits));
  EXPECT_FALSE(FitsRegisters(255, 257, limits));
  EXPECT_TRUE(FitsRegisters(255, 1024, LimitsOf("host-x86-64-v3")));
}

NumberSpace Threads() {
  NumberSpace space;
  records::Tunable tunable;
  tunable.name = "BX";
  tunable.default_value = 32;
  for (std::int64_t value = 32; value <= 1024; value += 32) tunable.values.push_back(value);
  space.tunables = {tunable};
  space.block = {"BX", "1", "1"};
  space.limits = LimitsOf("sm_90");
  return space;
}

// As if the compiler gave each thread 200 registers: a block of more than 320 does not fit.
TEST(NumberSearch, WhatWillProbablyNotFitComesLaterButComes) {
  std::vector<std::int64_t> seen;
  NumberSearch search(Threads(), 1, "random");
  while (const auto values = search.Next()) {
    seen.push_back((*values)[0].second);
    search.Report(*values, std::nullopt, {200, 0});
  }
  EXPECT_EQ(seen.size(), 31u) << "nothing is left out";
  // Nothing was built before the first one.
  int fitting = 0;
  for (std::size_t i = 1; i < 9; ++i) fitting += seen[i] <= 320 ? 1 : 0;
  EXPECT_EQ(fitting, 8);

  std::vector<std::int64_t> plain;
  NumberSearch other(Threads(), 1, "random");
  while (const auto values = other.Next()) {
    plain.push_back((*values)[0].second);
    other.Report(*values, std::nullopt);
  }
  EXPECT_NE(plain, seen);
  EXPECT_THAT(seen, ::testing::UnorderedElementsAreArray(plain));
}

TEST(NumberSearch, StaticAndDynamicSharedMemoryAreLookedAtTogether) {
  NumberSpace space = Threads();
  space.shared_bytes = "BX * 128";
  NumberSearch search(space, 1, "random");
  std::vector<std::int64_t> seen;
  while (const auto values = search.Next()) {
    seen.push_back((*values)[0].second);
    search.Report(*values, std::nullopt, {16, 227 * 1024 - 256 * 128});
  }
  for (std::size_t i = 1; i < 7; ++i) EXPECT_LE(seen[i], 256);
}

}  // namespace
}  // namespace cupilot::search
