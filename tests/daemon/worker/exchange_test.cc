#include "worker/exchange.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

namespace cupilot::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ExchangeTest : public ::testing::Test {
 protected:
  CasePlan PlanOf(std::size_t count) const {
    Region region;
    region.name = "at";
    region.count = static_cast<std::int64_t>(count);
    region.type = {device::Number::kSigned, 4, 1};
    region.input = true;
    region.fill.emplace();
    region.fill->kind = device::FillKind::kFile;
    CasePlan plan;
    plan.layout.Add(region);
    return plan;
  }
  // Empty: it says that nothing was changed.
  std::vector<std::int32_t> Exchanged(const std::vector<std::int32_t>& values, Exchange how_many,
                                      std::uint64_t seed = 1) const {
    CaseInputs inputs;
    inputs.regions.emplace_back(values.size() * 4);
    std::memcpy(inputs.regions[0].data(), values.data(), values.size() * 4);
    const CaseInputs other = WithExchanged(PlanOf(values.size()), inputs, 0, how_many, seed);
    if (!other.changed) return {};
    std::vector<std::int32_t> now(values.size());
    std::memcpy(now.data(), other.regions[0].data(), values.size() * 4);
    return now;
  }
  static std::size_t Different(const std::vector<std::int32_t>& a,
                               const std::vector<std::int32_t>& b) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i] ? 1 : 0;
    return different;
  }
};

TEST_F(ExchangeTest, WithoutOrderElementsChangePlaces) {
  std::vector<std::int32_t> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i * 7919 % 1000 - 500);
  for (const Exchange how_many : {Exchange::kTwo, Exchange::kSome, Exchange::kAll}) {
    const auto now = Exchanged(values, how_many);
    ASSERT_EQ(now.size(), values.size());
    EXPECT_TRUE(std::is_permutation(now.begin(), now.end(), values.begin()));
  }
  EXPECT_EQ(Different(Exchanged(values, Exchange::kTwo), values), 2u);
  EXPECT_GT(Different(Exchanged(values, Exchange::kAll), values), 800u);
  EXPECT_NE(Exchanged(values, Exchange::kTwo, 1), Exchanged(values, Exchange::kTwo, 2));
}

TEST_F(ExchangeTest, WhatIsInOrderStaysSo) {
  std::vector<std::int32_t> offsets;
  for (int i = 0; i < 1000; ++i) offsets.push_back(i * 10 - i % 3);
  for (const Exchange how_many : {Exchange::kTwo, Exchange::kSome, Exchange::kAll}) {
    const auto now = Exchanged(offsets, how_many);
    ASSERT_EQ(now.size(), offsets.size());
    EXPECT_TRUE(std::is_sorted(now.begin(), now.end()));
    EXPECT_EQ(std::adjacent_find(now.begin(), now.end()), now.end()) << "none was twice";
    EXPECT_EQ(now.front(), offsets.front());
    EXPECT_EQ(now.back(), offsets.back());
  }
  EXPECT_EQ(Different(Exchanged(offsets, Exchange::kTwo), offsets), 1u);
  EXPECT_GT(Different(Exchanged(offsets, Exchange::kAll), offsets), 500u);
}

// Rows of columns, each in order.
TEST_F(ExchangeTest, WhereOrderBeginsAnewItDoesAfterwards) {
  std::vector<std::int32_t> columns;
  for (int row = 0; row < 50; ++row) {
    for (int k = 0; k < 8; ++k) columns.push_back(3 * k + row % 3);
  }
  const auto now = Exchanged(columns, Exchange::kAll);
  ASSERT_EQ(now.size(), columns.size());
  for (std::size_t i = 0; i + 1 < now.size(); ++i) {
    EXPECT_EQ(now[i] < now[i + 1], i % 8 != 7) << i;
  }
}

TEST_F(ExchangeTest, WhatAllShareStays) {
  const std::vector<std::int32_t> begins = {0, 4, 12, 12, 20, 40, 44, 100};
  for (const std::int32_t value : Exchanged(begins, Exchange::kAll)) EXPECT_EQ(value % 4, 0);
}

TEST_F(ExchangeTest, SomeArraysHaveNothingToExchange) {
  EXPECT_THAT(Exchanged({7, 7, 7, 7}, Exchange::kAll), IsEmpty());
  EXPECT_THAT(Exchanged({1}, Exchange::kAll), IsEmpty());
  EXPECT_THAT(Exchanged({0, 1, 2, 3, 4, 5}, Exchange::kAll), IsEmpty()) << "no room between them";
}

TEST_F(ExchangeTest, OnlyIntegersFromFilesAreAsked) {
  CasePlan plan = PlanOf(4);
  Region other = plan.layout.regions[0];
  other.fill->kind = device::FillKind::kIntegers;
  plan.layout.Add(other);
  other = plan.layout.regions[0];
  other.type = {device::Number::kFloat32, 4, 1};
  plan.layout.Add(other);
  other = plan.layout.regions[0];
  other.input = false;
  plan.layout.Add(other);
  EXPECT_THAT(ExchangeableRegions(plan.layout), ElementsAre(0u));
}

}  // namespace
}  // namespace cupilot::worker
