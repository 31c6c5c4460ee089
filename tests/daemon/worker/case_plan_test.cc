#include "worker/case_plan.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

using ::testing::HasSubstr;

TEST(CasePlan, MakesEverythingANumber) {
  const CasePlan plan = MakePlan();
  EXPECT_EQ(plan.grid[0], (kCount + 63) / 64);
  EXPECT_EQ(plan.block[0], 64);
  ASSERT_EQ(plan.layout.regions.size(), 2u);
  EXPECT_EQ(plan.layout.regions[0].bytes(), 4 * kCount);
  EXPECT_TRUE(plan.layout.regions[0].input);
  EXPECT_FALSE(plan.layout.regions[0].output) << "a pointer to const is an input";
  EXPECT_TRUE(plan.layout.regions[1].output);
  EXPECT_FALSE(plan.layout.regions[1].input);
  float factor = 0;
  std::memcpy(&factor, plan.arguments[2].bytes.data(), sizeof factor);
  EXPECT_EQ(factor, 1.5f);
  EXPECT_EQ(plan.environment.integers.at("n"), kCount);
  EXPECT_EQ(plan.environment.integers.at("grid_x"), plan.grid[0]);
}

TEST(CasePlan, RegionsStandBetweenRedZones) {
  const CasePlan plan = MakePlan();
  std::int64_t end = 0;
  for (const Region& region : plan.layout.regions) {
    EXPECT_GE(region.offset - end, kRedZone) << region.name;
    EXPECT_EQ(region.offset % kAlignment, 0) << region.name;
    end = region.offset + region.bytes();
  }
  EXPECT_GE(plan.layout.bytes - end, kRedZone);
}

TEST(CasePlan, WidensWhatTheTwinWidens) {
  const Widening widening{{true, false, true, false}, {}};
  const auto plan = Plan(MakeCase(), &widening);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->layout.regions[0].bytes(), 8 * kCount);
  EXPECT_EQ(plan->layout.regions[1].bytes(), 4 * kCount);
  EXPECT_EQ(plan->arguments[2].bytes.size(), sizeof(double));
}

TEST(CasePlan, SaysWhatIsIllegal) {
  records::Case one = MakeCase();
  one.arguments[3].value = "many";
  auto plan = Plan(one);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("argument 'n'"));

  one = MakeCase();
  one.arguments.pop_back();
  plan = Plan(one);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("3 arguments"));

  one = MakeCase();
  one.arguments[0].count = "-1";
  plan = Plan(one);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("count"));

  one = MakeCase();
  one.arguments[0].count = "";
  plan = Plan(one);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("a pointer needs a count or a buffer"));
}

TEST(CasePlan, ArgumentsMayShareABuffer) {
  records::Case one = MakeCase();
  records::Buffer buffer;
  buffer.name = "both";
  buffer.bytes = "8 * n";
  one.buffers.push_back(buffer);
  for (std::size_t i : {0u, 1u}) {
    one.arguments[i] = {};
    one.arguments[i].name = i == 0 ? "in" : "out";
    one.arguments[i].buffer = "both";
    one.arguments[i].offset = i == 0 ? "0" : "4 * n";
  }
  const CasePlan plan = MakePlan(one);
  ASSERT_EQ(plan.layout.regions.size(), 1u);
  EXPECT_TRUE(plan.layout.regions[0].input && plan.layout.regions[0].output);
  EXPECT_EQ(plan.arguments[1].pointers[0].offset - plan.arguments[0].pointers[0].offset,
            4 * kCount);
}

TEST(CasePlan, ScalarsKeepAllTheirBits) {
  records::Parameter parameter = Scalar("x", records::ParameterKind::kInteger, "unsigned long");
  parameter.bytes = 8;
  const auto bytes = ScalarBytes(parameter, "18446744073709551615");
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*bytes, std::vector<std::byte>(8, std::byte{0xff}));
  EXPECT_FALSE(ScalarBytes(parameter, "18446744073709551616"));
}

}  // namespace
}  // namespace cupilot::worker
