#include "worker/nearby.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

Layout LayoutOf(device::FillKind kind, std::int64_t count) {
  Region region;
  region.name = "in";
  region.count = count;
  region.type = device::ElementTypeOf("float", 4);
  region.input = true;
  region.fill.emplace();
  region.fill->kind = kind;
  Layout layout;
  layout.Add(region);
  return layout;
}

CaseInputs InputsOf(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  CaseInputs inputs;
  inputs.regions.emplace_back(bytes, bytes + 4 * values.size());
  return inputs;
}

float At(const CaseInputs& inputs, std::size_t i) {
  float value = 0;
  std::memcpy(&value, inputs.regions[0].data() + 4 * i, sizeof value);
  return value;
}

TEST(Nearby, ValuesStayWhatTheyAreToOneAnother) {
  const Layout layout = LayoutOf(device::FillKind::kNormal, 7);
  const CaseInputs inputs = InputsOf({0, 3000.25f, -3000.25f, 1, std::nextafter(1.0f, 2.0f),
                                      kInfinite, std::numeric_limits<float>::quiet_NaN()});
  std::set<float> moved;
  for (int draw = 0; draw < kNearbyDraws; ++draw) {
    const auto near = InputsNear(layout, inputs, draw);
    ASSERT_TRUE(near);
    EXPECT_EQ(At(*near, 0), 0);
    EXPECT_EQ(At(*near, 1), -At(*near, 2));
    EXPECT_LT(At(*near, 1), 3000.25f);
    EXPECT_GT(At(*near, 1), 2999);
    EXPECT_LE(At(*near, 3), At(*near, 4));
    EXPECT_EQ(At(*near, 5), kInfinite);
    EXPECT_TRUE(std::isnan(At(*near, 6)));
    moved.insert(At(*near, 1));
  }
  EXPECT_EQ(moved.size(), static_cast<std::size_t>(kNearbyDraws)) << "each draw is another one";
}

TEST(Nearby, WhatHasNoFillOfItsOwnIsNotMoved) {
  for (const auto kind : {device::FillKind::kConstant, device::FillKind::kSorted}) {
    EXPECT_FALSE(InputsNear(LayoutOf(kind, 1), InputsOf({1}), 0));
  }
}

std::vector<Rho> Errors(const std::vector<double>& errors) {
  std::vector<Rho> draws;
  for (const double error : errors) draws.push_back({error / 8, error});
  return draws;
}

TEST(Nearby, AnErrorIsTypicalWhereThreeAreAsGreat) {
  const Rho typical = TypicalError({1, 8, 5, 64}, Errors({8e9, 80, 16, 40, 4e9, 24}));
  EXPECT_EQ(typical.max, 80) << "one or two may be at an edge";
  EXPECT_EQ(typical.rms, 10);
  EXPECT_EQ(typical.elements, 64u);
  EXPECT_EQ(TypicalError({9, 99}, Errors({80, 80, 80})).max, 99) << "never less than here";
  EXPECT_EQ(TypicalError({1, 8}, Errors({80, 80})).max, 8);
}

TEST(Nearby, ThereIsHopeWhereTheFirstAreNotFarAway) {
  EXPECT_EQ(HopefulError({1, 8}, Errors({16, 10})).max, 256);
  EXPECT_EQ(HopefulError({1, 8}, Errors({16, 10})).rms, 32);
}

}  // namespace
}  // namespace cupilot::worker
