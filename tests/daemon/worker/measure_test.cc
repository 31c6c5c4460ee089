#include "worker/measure.h"

#include <gtest/gtest.h>

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
