#include "worker/error_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "worker/case_plan.h"

namespace cupilot::worker {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ErrorRule, CountsInUnits) {
  const Expected expected{{1, 2, 3}, {0.5, 0.5, 0.5}};
  const Rho rho = RhoOf({1, 3, 3}, {1, 2, 3}, expected);
  EXPECT_EQ(rho.max, 2);
  EXPECT_EQ(rho.worst, 1u);
  EXPECT_DOUBLE_EQ(rho.rms, std::sqrt(4.0 / 3));
}

TEST(ErrorRule, WhatIsNotFiniteMustBeOfTheSameClassAndSign) {
  const Expected expected{{kInfinity}, {1}};
  EXPECT_EQ(RhoOf({kInfinity}, {kInfinity}, expected).max, 0);
  EXPECT_EQ(RhoOf({-kInfinity}, {kInfinity}, expected).max, kInfinity);
  EXPECT_EQ(RhoOf({kNan}, {kNan}, expected).max, 0);
  EXPECT_EQ(RhoOf({1}, {kNan}, expected).max, kInfinity);
  EXPECT_EQ(RhoOf({kNan}, {1}, {{1}, {1}}).max, kInfinity);
}

TEST(ErrorRule, WithoutAnExactValueTheOriginalCounts) {
  const Expected expected{{kNan, 1}, {1, 1}};
  const Rho same = RhoOf({7, 2}, {7, 1}, expected);
  EXPECT_EQ(same.max, 1);
  EXPECT_EQ(same.rms, 1) << "one element has an error; the other has none and is no element";
  EXPECT_EQ(RhoOf({8, 1}, {7, 1}, expected).max, kInfinity);
}

TEST(ErrorRule, BulkIsOneByOne) {
  const device::ElementType type = device::ElementTypeOf("float", 4);
  std::vector<float> values, original;
  std::vector<double> v, o;
  Expected expected;
  for (int i = 0; i < 50000; ++i) {
    original.push_back(std::sin(static_cast<float>(i)));
    values.push_back(original.back() * (1 + 1e-6f * static_cast<float>(i % 7)));
    expected.exact.push_back(std::sin(static_cast<double>(i)));
    expected.unit.push_back(1e-7 + 1e-9 * i);
    v.push_back(values.back());
    o.push_back(original.back());
  }
  const Rho bulk = RhoOf(reinterpret_cast<const std::byte*>(values.data()),
                         reinterpret_cast<const std::byte*>(original.data()), type, expected);
  const Rho single = RhoOf(v, o, expected);
  EXPECT_NEAR(bulk.rms, single.rms, 1e-9 * single.rms);
  EXPECT_EQ(bulk.max, single.max);
  EXPECT_EQ(bulk.worst, single.worst);
}

// The constants of design, section 6.
TEST(ErrorRule, LimitsGrowWithTheOriginalAndWithTheInputsOfOneOutput) {
  const Limits few = LimitsOf({1, 2, 0}, 1, true);
  EXPECT_EQ(few.rms, 16);
  EXPECT_EQ(few.max, 128);
  const Limits bad = LimitsOf({10, 100, 0}, 1, true);
  EXPECT_EQ(bad.rms, 40);
  EXPECT_EQ(bad.max, 400);
  const Limits many = LimitsOf({1, 2, 0}, 1 << 20, true);
  EXPECT_EQ(many.rms, 512);
  EXPECT_EQ(many.max, 4096);
  const Limits probe = LimitsOf({100, 2, 0}, 1 << 20, false);
  EXPECT_EQ(probe.max, 32) << "a probe looks at single elements only";
  EXPECT_FALSE(Passes({0, 33, 0}, probe));
  EXPECT_TRUE(Passes({0, 32, 0}, probe));
  EXPECT_FALSE(Passes({kNan, 0, 0}, few));
}

// An rms of one element is one draw.
TEST(ErrorRule, FewElementsHaveMoreRoom) {
  EXPECT_EQ(LimitsOf({1, 2, 0, 1}, 1, true).rms, 64);
  EXPECT_EQ(LimitsOf({1, 2, 0, 9}, 1, true).rms, 32);
  EXPECT_NEAR(LimitsOf({1, 2, 0, 1 << 20}, 1, true).rms, 16, 0.1);
  EXPECT_EQ(LimitsOf({1, 2, 0, 1}, 1, true).max, 128);
}

TEST(ErrorRule, EqualTermsOfZerosAreCounted) {
  Expected expected{{1, 1, 1}, {0x1p-23, 0x1p-23, 0x1p-23}};
  CountEqualTerms({0.5, 0, kNan}, 320, 0x1p-24, expected);
  EXPECT_EQ(expected.unit[0], 0x1p-23 + 10 * 0x1p-24) << "32 units let a roundoff a term pass";
  EXPECT_EQ(expected.unit[1], 0x1p-23);
  EXPECT_EQ(expected.unit[2], 0x1p-23);
}

TEST(ErrorRule, IntegersAreExactOnlyWhereTheOriginalIs) {
  EXPECT_TRUE(IsExact({0, 0, 0}));
  EXPECT_FALSE(IsExact({0.1, 0.3, 0}));
}

TEST(ErrorRule, MeasuredInputsCountWhereTheyAreMore) {
  Layout layout;
  Region region;
  region.name = "in";
  region.count = 1000;
  region.type = device::ElementTypeOf("float", 4);
  region.input = true;
  layout.Add(region);
  Expected expected{std::vector<double>(10, 1.0), std::vector<double>(10, 1.0)};
  EXPECT_EQ(InputsOfOneOutput(layout, expected), 100);
  expected.reach = 500;
  EXPECT_EQ(InputsOfOneOutput(layout, expected), 500);
}

}  // namespace
}  // namespace cupilot::worker
