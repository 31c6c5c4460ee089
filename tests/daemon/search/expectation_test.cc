// What another minute is expected to bring.
#include "search/expectation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "search/random_numbers.h"

namespace cupilot::search {
namespace {

using Speedups = std::vector<std::optional<double>>;

// Logarithms with an exponential tail of this scale.
Speedups Drawn(std::size_t count, double scale, std::mt19937_64& random) {
  Speedups speedups;
  for (std::size_t i = 0; i < count; ++i) {
    speedups.emplace_back(std::exp(-scale * std::log(1 - Unit(random))));
  }
  return speedups;
}

TEST(Expectation, OfTooFewResultsNothingIsSaid) {
  EXPECT_FALSE(ExpectAnotherMinute(Speedups(kFewestResults - 1, 1.5), 10));
  EXPECT_FALSE(ExpectAnotherMinute(Speedups(kFewestResults, 1.5), 0));
  EXPECT_TRUE(ExpectAnotherMinute(Speedups(kFewestResults, 1.5), 10));
}

TEST(Expectation, WhereNothingDiffersNothingIsLeft) {
  const auto expected = ExpectAnotherMinute(Speedups(40, 1.0), 20);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->gain, 0);
  EXPECT_EQ(expected->evaluations, 120);
  EXPECT_EQ(ExpectAnotherMinute(Speedups(40, std::nullopt), 20)->gain, 0);
}

// Draws of the kind that the method assumes: what was expected of the next minute is, over many
// runs, what that minute brought.
TEST(Expectation, IsRightOnTheMeanForIndependentDraws) {
  std::mt19937_64 random(1);
  constexpr std::size_t kSeen = 100, kMore = 60;
  double expected = 0, gained = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    const Speedups all = Drawn(kSeen + kMore, 0.1, random);
    const Speedups seen(all.begin(), all.begin() + kSeen);
    expected += ExpectAnotherMinute(seen, static_cast<double>(kSeen))->gain;
    gained +=
        **std::max_element(all.begin(), all.end()) / **std::max_element(seen.begin(), seen.end()) -
        1;
  }
  EXPECT_GT(expected, gained * 0.8);
  EXPECT_LT(expected, gained * 1.8);
}

TEST(Expectation, FallsWhileNothingBetterComes) {
  std::mt19937_64 random(3);
  Speedups speedups = Drawn(40, 0.05, random);
  double last = ExpectAnotherMinute(speedups, 40)->gain;
  EXPECT_GT(last, 0.01);
  for (int minutes = 1; minutes <= 32; minutes *= 2) {
    while (speedups.size() < 40u * static_cast<std::size_t>(minutes) * 2) {
      speedups.emplace_back(1.0);
    }
    const double now = ExpectAnotherMinute(speedups, static_cast<double>(speedups.size()))->gain;
    EXPECT_LT(now, last) << minutes;
    last = now;
  }
  EXPECT_LT(last, 0.002);
}

// A climb that no tail of draws shows: the last half brought all of it.
TEST(Expectation, SeesThatASearchStillClimbs) {
  Speedups speedups(30, 1.0);
  for (int i = 0; i < 30; ++i) speedups.emplace_back(1.0 + 0.02 * i);
  const auto expected = ExpectAnotherMinute(speedups, 60);
  ASSERT_TRUE(expected);
  EXPECT_GT(expected->gain, 0.3);
}

TEST(Expectation, AMinuteOfSlowEvaluationsBringsLess) {
  std::mt19937_64 random(5);
  const Speedups speedups = Drawn(50, 0.05, random);
  EXPECT_GT(ExpectAnotherMinute(speedups, 10)->gain, ExpectAnotherMinute(speedups, 1000)->gain);
}

}  // namespace
}  // namespace cupilot::search
