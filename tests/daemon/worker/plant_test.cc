#include "worker/plant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

// `rows` outputs of a thousand inputs.
records::Case CaseOfRows(const std::string& rows) {
  records::Case one = MakeCase();
  one.arguments[1].count = rows;
  return one;
}

struct DrawnCase {
  CasePlan plan;
  CaseInputs workload;
};

DrawnCase Draw(const records::Case& one) {
  DrawnCase drawn;
  drawn.plan = MakePlan(one);
  protocol::CandidateSet set;
  set.workload.cases = {one};
  auto inputs = FindInputs(set, drawn.plan, nullptr);
  EXPECT_TRUE(inputs) << inputs.error().message;
  if (inputs) drawn.workload = **inputs;
  return drawn;
}

double ValueAt(const CasePlan& plan, const CaseInputs& inputs, std::int64_t i) {
  return device::ReadNumber(inputs.regions[0].data(), i, plan.layout.regions[0].type);
}

TEST(Plant, OnePositionOfEachRowIsDecisive) {
  const DrawnCase drawn = Draw(CaseOfRows("20"));
  for (const int run : {0, 1}) {
    const Planted planted = PlantValues(drawn.plan, drawn.workload, {0, run}, 7);
    ASSERT_EQ(planted.positions.size(), 20u);
    for (std::int64_t row = 0; row < 20; ++row) {
      const std::int64_t at = planted.positions[static_cast<std::size_t>(row)];
      EXPECT_EQ(at / 50, row);
      for (std::int64_t i = 50 * row; i < 50 * (row + 1); ++i) {
        if (i == at) continue;
        const double other = ValueAt(drawn.plan, planted.inputs, i);
        const double decisive = ValueAt(drawn.plan, planted.inputs, at);
        EXPECT_EQ(other, ValueAt(drawn.plan, drawn.workload, i)) << "others stay";
        EXPECT_TRUE(run == 0 ? decisive > other : decisive < other) << decisive << " " << other;
      }
    }
  }
}

TEST(Plant, RunsTestOtherPositions) {
  const DrawnCase drawn = Draw(CaseOfRows("1"));
  std::set<std::int64_t> positions;
  for (int run = 0; run < 500; ++run) {
    const Planted planted = PlantValues(drawn.plan, drawn.workload, {0, run}, 7);
    ASSERT_EQ(planted.positions.size(), 1u);
    positions.insert(planted.positions[0]);
  }
  EXPECT_GT(positions.size(), 300u) << "of a thousand, at random";
  const Planted one = PlantValues(drawn.plan, drawn.workload, {0, 3}, 7);
  EXPECT_EQ(one.positions, PlantValues(drawn.plan, drawn.workload, {0, 3}, 7).positions);
}

TEST(Plant, WhatAFillDeclaresHolds) {
  records::Case one = CaseOfRows("1");
  one.arguments[0].fill->kind = "uniform";
  one.arguments[0].fill->low = "2";
  one.arguments[0].fill->high = "3";
  const DrawnCase drawn = Draw(one);
  for (int run = 0; run < 20; ++run) {
    const Planted planted = PlantValues(drawn.plan, drawn.workload, {0, run}, 7);
    const double value = ValueAt(drawn.plan, planted.inputs, planted.positions[0]);
    EXPECT_GE(value, 2);
    EXPECT_LT(value, 3);
  }
}

TEST(Plant, ZerosBesideAFillsRangeLeadToNothingOutsideOfIt) {
  records::Case one = CaseOfRows("1");
  one.arguments[0].fill->kind = "uniform";
  one.arguments[0].fill->low = "2";
  one.arguments[0].fill->high = "3";
  one.arguments[0].fill->zeros = 0.5;
  const DrawnCase drawn = Draw(one);
  for (int run = 0; run < 20; ++run) {
    const Planted planted = PlantValues(drawn.plan, drawn.workload, {0, run}, 7);
    const double value = ValueAt(drawn.plan, planted.inputs, planted.positions[0]);
    EXPECT_TRUE(value == 0 || (value >= 2 && value < 3)) << value;
  }
}

TEST(Plant, NotWhereValuesHaveAnOrderOrAMeaning) {
  for (const char* kind : {"constant", "sorted"}) {
    records::Case one = MakeCase();
    one.arguments[0].fill->kind = kind;
    EXPECT_TRUE(PlantableRegions(MakePlan(one).layout).empty()) << kind;
  }
  EXPECT_EQ(PlantableRegions(MakePlan().layout), std::vector<std::size_t>{0});
}

Region IntegerRegion(device::FillKind kind, std::int64_t low, std::int64_t high) {
  Region region;
  region.name = "keys";
  region.count = 64;
  region.type = device::ElementTypeOf("int", 4);
  region.input = true;
  region.declared = true;
  region.fill.emplace();
  region.fill->kind = kind;
  region.fill->integer_low = low;
  region.fill->integer_high = high;
  return region;
}

CaseInputs IntegersOf(const Region& region, std::int64_t step) {
  CaseInputs inputs;
  inputs.regions.emplace_back(static_cast<std::size_t>(region.bytes()));
  for (std::int64_t i = 0; i < region.count; ++i) {
    device::WriteInteger(inputs.regions[0].data(), i, region.type, i / step);
  }
  return inputs;
}

TEST(Plant, TheEndOfARangeBelongsToOneInteger) {
  CasePlan plan;
  plan.layout.Add(IntegerRegion(device::FillKind::kIntegers, 0, 3));
  const CaseInputs inputs = IntegersOf(plan.layout.regions[0], 16);
  for (const int run : {0, 1}) {
    const Planted planted = PlantValues(plan, inputs, {0, run}, 7);
    for (const std::int64_t at : planted.positions) {
      const std::int64_t end = run == 0 ? 3 : 0;
      for (std::int64_t i = at / 8 * 8; i < at / 8 * 8 + 8; ++i) {
        const std::int64_t value =
            device::ReadInteger(planted.inputs.regions[0].data(), i, plan.layout.regions[0].type);
        EXPECT_EQ(value == end, i == at);
        EXPECT_TRUE(value >= 0 && value <= 3);
      }
    }
  }
}

TEST(Plant, APermutationStaysOne) {
  CasePlan plan;
  plan.layout.Add(IntegerRegion(device::FillKind::kPermutation, 0, 0));
  const CaseInputs inputs = IntegersOf(plan.layout.regions[0], 1);
  const Planted planted = PlantValues(plan, inputs, {0, 0}, 7);
  EXPECT_NE(planted.inputs.regions, inputs.regions);
  std::set<std::int64_t> values;
  for (std::int64_t i = 0; i < 64; ++i) {
    values.insert(
        device::ReadInteger(planted.inputs.regions[0].data(), i, plan.layout.regions[0].type));
  }
  EXPECT_EQ(values.size(), 64u);
  EXPECT_EQ(*values.begin(), 0);
  EXPECT_EQ(*values.rbegin(), 63);
}

// Two factors, of which one is the layout's.
TEST(Plant, ZerosOfOneFactorStandBesideWhatIsNoNumberInAnother) {
  CasePlan plan;
  CaseInputs inputs;
  for (const char* name : {"a", "b"}) {
    Region region;
    region.name = name;
    region.count = 400;
    region.type = device::ElementTypeOf("float", 4);
    region.input = true;
    region.fill.emplace();
    region.fill->kind = device::FillKind::kNormal;
    plan.layout.Add(region);
    std::vector<float> ones(400, 1.0f);
    const auto* bytes = reinterpret_cast<const std::byte*>(ones.data());
    inputs.regions.emplace_back(bytes, bytes + 1600);
  }
  const double nan = std::nan("");
  const auto count = [&](const CaseInputs& drawn, std::size_t region, auto holds) {
    int number = 0;
    for (std::int64_t i = 0; i < 400; ++i) {
      number += holds(
          device::ReadNumber(drawn.regions[region].data(), i, plan.layout.regions[region].type));
    }
    return number;
  };
  const auto is_zero = [](double x) { return x == 0 ? 1 : 0; };
  const auto is_none = [](double x) { return std::isnan(x) ? 1 : 0; };
  const CaseInputs both = WithZerosBeside(plan, inputs, 1, nan, 3);
  EXPECT_TRUE(both.changed);
  EXPECT_EQ(count(both, 0, is_zero), 0);
  EXPECT_GT(count(both, 0, is_none), 0);
  EXPECT_NEAR(count(both, 1, is_zero), 200, 60);
  EXPECT_EQ(count(both, 1, is_none), 0);
  plan.layout.regions[0].fill->kind = device::FillKind::kConstant;  // the other stands alone
  const CaseInputs alone = WithZerosBeside(plan, inputs, 1, nan, 3);
  EXPECT_GT(count(alone, 1, is_none), 0);
  EXPECT_NEAR(count(alone, 1, is_zero), 200, 60);
}

TEST(Plant, InfiniteValuesHaveBothSigns) {
  const DrawnCase drawn = Draw(CaseOfRows("20"));
  const double infinity = std::numeric_limits<double>::infinity();
  const CaseInputs inputs = WithSpecialValues(drawn.plan, drawn.workload, infinity, 0);
  int positive = 0, negative = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    positive += ValueAt(drawn.plan, inputs, i) == infinity ? 1 : 0;
    negative += ValueAt(drawn.plan, inputs, i) == -infinity ? 1 : 0;
  }
  EXPECT_EQ(positive, 3);
  EXPECT_EQ(negative, 2);
}

// One region of integers with that fill.
DrawnCase DrawIntegers(const records::Fill& fill) {
  DrawnCase drawn;
  Region region;
  region.name = "at";
  region.count = 100;
  region.type = {device::Number::kSigned, 4, 1};
  region.input = region.declared = true;
  records::Environment none;
  auto recipe = RecipeOf(fill, region.type, region.count, none);
  EXPECT_TRUE(recipe);
  region.fill = *recipe;
  drawn.plan.layout.Add(region);
  drawn.workload.regions.emplace_back(400);
  const device::FillSource source{3, "at", 0};
  EXPECT_TRUE(device::FillBuffer(drawn.workload.regions[0].data(), region.count, region.type,
                                 *recipe, source));
  return drawn;
}

std::vector<std::int64_t> IntegersOf(const CaseInputs& inputs) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < 100; ++i) {
    values.push_back(
        device::ReadInteger(inputs.regions[0].data(), i, {device::Number::kSigned, 4, 1}));
  }
  return values;
}

TEST(PlantSeries, EachDrawIsOneDecisiveNumber) {
  const DrawnCase drawn = Draw(CaseOfRows("1"));
  const PlantSeries series(drawn.plan, drawn.workload, 0, 7);
  EXPECT_EQ(series.base()->regions, drawn.workload.regions);
  std::set<std::int64_t> positions;
  for (int run = 0; run < 40; ++run) {
    const auto writes = series.Draw(run);
    ASSERT_EQ(writes.size(), 1u);
    const std::int64_t at = writes[0].at / 4;
    positions.insert(at);
    const CaseInputs planted = series.With(writes);
    const double decisive = ValueAt(drawn.plan, planted, at);
    for (std::int64_t i = 0; i < kCount; ++i) {
      if (i == at) continue;
      const double other = ValueAt(drawn.plan, planted, i);
      EXPECT_EQ(other, ValueAt(drawn.plan, drawn.workload, i)) << "others stay";
      EXPECT_TRUE(run % 2 == 0 ? decisive > other : decisive < other) << decisive << " " << other;
    }
  }
  EXPECT_GT(positions.size(), 30u);
}

TEST(PlantSeries, NoOtherIntegerIsAtAnEnd) {
  records::Fill fill;
  fill.kind = "integers";
  fill.low = "0";
  fill.high = "9";
  const DrawnCase drawn = DrawIntegers(fill);
  const PlantSeries series(drawn.plan, drawn.workload, 0, 7);
  for (const int run : {0, 1, 2, 3}) {
    const auto values = IntegersOf(series.With(series.Draw(run)));
    EXPECT_EQ(std::count(values.begin(), values.end(), 9), run % 2 == 0 ? 1 : 0);
    EXPECT_EQ(std::count(values.begin(), values.end(), 0), run % 2 == 0 ? 0 : 1);
  }
}

TEST(PlantSeries, OfTwoNumbersItIsTheOther) {
  records::Fill fill;
  fill.kind = "integers";
  fill.low = "0";
  fill.high = "1";
  const DrawnCase drawn = DrawIntegers(fill);
  const PlantSeries series(drawn.plan, drawn.workload, 0, 7);
  const auto before = IntegersOf(drawn.workload);
  for (const int run : {0, 1, 2, 3}) {
    const auto writes = series.Draw(run);
    const auto at = static_cast<std::size_t>(writes.at(0).at / 4);
    EXPECT_EQ(IntegersOf(series.With(writes))[at], 1 - before[at]);
  }
}

TEST(PlantSeries, APermutationStaysOne) {
  records::Fill fill;
  fill.kind = "permutation";
  const DrawnCase drawn = DrawIntegers(fill);
  const PlantSeries series(drawn.plan, drawn.workload, 0, 7);
  const auto before = IntegersOf(drawn.workload);
  for (int run = 0; run < 10; ++run) {
    const auto values = IntegersOf(series.With(series.Draw(run)));
    EXPECT_TRUE(std::is_permutation(values.begin(), values.end(), before.begin()));
  }
}

}  // namespace
}  // namespace cupilot::worker
