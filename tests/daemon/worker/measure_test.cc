#include "worker/measure.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cupilot::worker {
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

TEST(Measure, TheIntervalHoldsTheRatio) {
  for (const double ratio : {0.5, 1.0, 3.0}) {
    const PairedRatio result = RatioOf(PairsOf(ratio, 50));
    EXPECT_NEAR(result.speedup, ratio, 0.01 * ratio);
    EXPECT_LT(result.low, result.speedup);
    EXPECT_GT(result.high, result.speedup);
    EXPECT_LT(result.low, ratio);
    EXPECT_GT(result.high, ratio);
    EXPECT_EQ(result.variant_us, 100);
  }
}

TEST(Measure, MorePairsAreANarrowerInterval) {
  const PairedRatio few = RatioOf(PairsOf(2, 10)), many = RatioOf(PairsOf(2, 50));
  EXPECT_LT(many.high - many.low, few.high - few.low);
}

TEST(Measure, OneDisturbedPairDoesNotMoveIt) {
  TimedPairs pairs = PairsOf(2, 50);
  const PairedRatio before = RatioOf(pairs);
  pairs[7].second *= 100;
  EXPECT_NEAR(RatioOf(pairs).speedup, before.speedup, 0.01);
}

TEST(Measure, AProbeIsLostOnlyIfEveryPairIs) {
  EXPECT_TRUE(LosesProbe({{100, 120}, {100, 130}}, 1.1));
  EXPECT_FALSE(LosesProbe({{100, 120}, {100, 105}}, 1.1));
  EXPECT_FALSE(LosesProbe({}, 1.1));
}

TEST(Measure, EndsWhenTheCandidateIsSlowerForCertain) {
  EXPECT_TRUE(EnoughPairs(PairsOf(0.9, 15), 0, 10));
  EXPECT_FALSE(EnoughPairs(PairsOf(0.9, 5), 0, 10)) << "too few to be certain";
  EXPECT_FALSE(EnoughPairs(PairsOf(1.0, 15), 0, 10));
  EXPECT_FALSE(EnoughPairs(PairsOf(2.0, 15), 0, 10)) << "a winner is measured to the end";
}

TEST(Measure, EndsWithItsTime) {
  EXPECT_FALSE(EnoughPairs(PairsOf(2, 3), 2, 1)) << "an interval needs some pairs";
  EXPECT_TRUE(EnoughPairs(PairsOf(2, 6), 2, 1));
  EXPECT_TRUE(EnoughPairs(PairsOf(2, 3), 5, 1)) << "but not at any price";
  EXPECT_TRUE(EnoughPairs(PairsOf(2, 20), 0.9, 1));
}

}  // namespace
}  // namespace cupilot::worker
