// What the error rule and a case's plan know of twins that are no twins of float arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/daemon/worker/case_fixture.h"
#include "worker/error_rule.h"

namespace cupilot::worker {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(TwinRounding, CountsWhatAnExactValueLostInDouble) {
  Expected expected{{1}, {0x1p-53}};
  expected.rest = {0x1p-54};
  EXPECT_EQ(RhoOf({1}, {1}, expected).max, 0.5);
  EXPECT_EQ(RhoOf({1 + 0x1p-52}, {1}, expected).max, 1.5);
}

TEST(TwinRounding, StoringInANarrowerTypeIsNoError) {
  Expected expected{{2}, {0x1p-20}};
  DescribeRounding({device::Number::kFloat16, 2, 1}, 0x1p-24, expected);
  EXPECT_EQ(RhoOf({2 + 0x1p-10}, {2}, expected).max, 0) << "half a place of half precision";
  EXPECT_GT(RhoOf({2 + 0x1p-9}, {2}, expected).max, 128) << "two roundings to it";
  EXPECT_FALSE(expected.narrow);
  EXPECT_EQ(expected.Apart(3, 0), 3 * 0x1p-20 + 2 * expected.StorageOf(0));
  Expected same{{2}, {0x1p-20}};
  DescribeRounding({device::Number::kFloat32, 4, 1}, 0x1p-24, same);
  EXPECT_EQ(same.StorageOf(0), 0);
}

TEST(TwinRounding, NarrowArithmeticHasLessRoom) {
  Expected half{{1}, {1}};
  DescribeRounding({device::Number::kFloat16, 2, 1}, 0x1p-11, half);
  EXPECT_TRUE(half.narrow);
  Rho none;
  EXPECT_LT(LimitsOf(none, 1, false, true).max, LimitsOf(none, 1, false).max);
  EXPECT_EQ(LimitsOf(none, 1, false, true).rms, 1);
  EXPECT_EQ(LimitsOf(none, 1, false).rms, kInfinity);
  EXPECT_LT(LimitsOf(none, 1, true, true).rms, 2);
  none.rms = 3;
  EXPECT_EQ(LimitsOf(none, 1, false, true).rms, 9);
  EXPECT_EQ(LimitsOf(none, 1, true, true).rms, 9);
}

TEST(TwinRounding, WhatOverflowsInNarrowArithmeticMayBeAsTheTwinIs) {
  Expected expected{{1e6}, {1e3}};
  EXPECT_EQ(RhoOf({1e6}, {kInfinity}, expected).max, kInfinity);
  expected.narrow = true;
  EXPECT_EQ(RhoOf({1e6}, {kInfinity}, expected).max, 0);
  EXPECT_GT(RhoOf({2e6}, {kInfinity}, expected).max, 100);
  EXPECT_EQ(RhoOf({kNan}, {1}, expected).max, kInfinity);
  expected.exact = {kNan};
  EXPECT_EQ(RhoOf({kNan}, {1}, expected).max, 0);
  EXPECT_EQ(RhoOf({2}, {1}, expected).max, kInfinity);
}

TEST(TwinRounding, ExtendedNumbersKeepWhatDoubleLoses) {
  const device::ElementType wide = device::Widened({device::Number::kFloat64, 8, 2});
  EXPECT_EQ(wide.number, device::Number::kExtended);
  EXPECT_EQ(wide.lanes, 2);
  std::byte data[2 * sizeof(long double)];
  const double values[] = {1, kInfinity}, rests[] = {0x1p-60, 0};
  device::WriteParts(data, 0, 2, wide, values, rests);
  double read[2], rest[2];
  device::ReadParts(data, 0, 2, wide, read, rest);
  EXPECT_EQ(read[0], 1);
  EXPECT_EQ(rest[0], 0x1p-60);
  EXPECT_EQ(read[1], kInfinity);
  EXPECT_EQ(rest[1], 0);
  EXPECT_EQ(device::ReadNumber(data, 0, wide), 1);
}

TEST(TwinRounding, AScalarOfTheTwinHasTheOriginalsValue) {
  records::Case one = MakeCase();
  one.arguments[2].value = "0.1";
  const Widening widening{{true, false, true, false}, {}};
  const auto plan = Plan(one, &widening);
  ASSERT_TRUE(plan) << plan.error().message;
  double factor = 0;
  ASSERT_EQ(plan->arguments[2].bytes.size(), sizeof factor);
  std::memcpy(&factor, plan->arguments[2].bytes.data(), sizeof factor);
  EXPECT_EQ(factor, static_cast<double>(0.1f));
}

TEST(TwinRounding, StructuresAreWidenedNumberByNumber) {
  records::Kernel kernel = MakeKernel();
  kernel.parameters[0].element = "P";
  kernel.parameters[2].canonical = kernel.parameters[2].type = "P";
  kernel.parameters[2].kind = records::ParameterKind::kOther;
  kernel.parameters[0].element_bytes = kernel.parameters[2].bytes = 8;
  records::Case one = MakeCase();
  one.arguments[0].fill->kind = "bits";
  one.arguments[2].value.clear();
  one.arguments[2].bytes = "AADAPxgAAAA=";  // 1.5f, 24
  Widening widening{{true, false, true, false}, {}};
  const std::vector<protocol::TwinMember> members = {{"float", 0, 4, 0, 8}, {"int", 4, 4, 8, 4}};
  widening.structures = {{0, 16, members}, {2, 16, members}};
  const auto plan = PlanCase(kernel, one, device::DescribeHost(), &widening);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->layout.regions[0].bytes(), 16 * kCount);
  EXPECT_EQ(plan->layout.regions[0].members, members);
  const std::vector<std::byte>& bytes = plan->arguments[2].bytes;
  ASSERT_EQ(bytes.size(), 16u);
  double slope = 0;
  int steps = 0;
  std::memcpy(&slope, bytes.data(), sizeof slope);
  std::memcpy(&steps, bytes.data() + 8, sizeof steps);
  EXPECT_EQ(slope, 1.5);
  EXPECT_EQ(steps, 24);
}

}  // namespace
}  // namespace cupilot::worker
