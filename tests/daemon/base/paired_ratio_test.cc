#include "base/paired_ratio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cupilot::base {
namespace {

// Pairs of this ratio, with a little noise that has no trend.
TimedPairs PairsOf(double ratio, std::size_t count) {
  TimedPairs pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const double noise = 1 + 0.01 * (static_cast<double>(i % 5) - 2);
    pairs.emplace_back(100 * ratio * noise, 100);
  }
  return pairs;
}

TEST(Ratio, TheIntervalHoldsTheRatio) {
  for (const double ratio : {0.5, 1.0, 3.0}) {
    const PairedRatio result = RatioOf(PairsOf(ratio, 50));
    EXPECT_NEAR(result.ratio, ratio, 0.01 * ratio);
    EXPECT_LT(result.low, result.ratio);
    EXPECT_GT(result.high, result.ratio);
    EXPECT_LT(result.low, ratio);
    EXPECT_GT(result.high, ratio);
    EXPECT_EQ(result.second, 100);
  }
}

TEST(Ratio, MorePairsAreANarrowerInterval) {
  const PairedRatio few = RatioOf(PairsOf(2, 10)), many = RatioOf(PairsOf(2, 50));
  EXPECT_LT(many.high - many.low, few.high - few.low);
}

TEST(Ratio, OneDisturbedPairDoesNotMoveIt) {
  TimedPairs pairs = PairsOf(2, 50);
  const PairedRatio before = RatioOf(pairs);
  pairs[7].second *= 100;
  EXPECT_NEAR(RatioOf(pairs).ratio, before.ratio, 0.01);
}

TEST(Ratio, OfThreePairsOneThatIsDisturbedIsNotTheMedian) {
  for (const double disturbed : {4800.0, 60.0}) {
    TimedPairs pairs = {{602, 579}, {disturbed, 579}, {604, 579}};
    for (std::size_t turn = 0; turn < pairs.size(); ++turn) {
      EXPECT_NEAR(MedianRatioOf(pairs), 1.04, 0.005);
      std::rotate(pairs.begin(), pairs.begin() + 1, pairs.end());
    }
    EXPECT_GT(std::abs(RatioOf(pairs).ratio - 1.04), 0.5) << "their mean";
  }
  EXPECT_DOUBLE_EQ(MedianRatioOf({{3, 2}}), 1.5);
  EXPECT_DOUBLE_EQ(MedianRatioOf({{8, 1}, {2, 1}}), 4);
}

// As a table of Student's t with four degrees of freedom has it.
TEST(Ratio, FivePairsAreEnoughForAnInterval) {
  const PairedRatio five = RatioOf({{110, 100}, {120, 100}, {115, 100}, {112, 100}, {118, 100}});
  EXPECT_NEAR(five.ratio, 1.1494, 0.0001);
  EXPECT_NEAR(five.low, 1.0993, 0.0005);
  EXPECT_NEAR(five.high, 1.2018, 0.0005);
  EXPECT_EQ(five.first, 115);
}

}  // namespace
}  // namespace cupilot::base
