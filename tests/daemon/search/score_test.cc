// The methodology on spaces whose answers are known by hand.
#include "search/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/daemon/search/measured_spaces.h"

namespace cupilot::search {
namespace {

using ::testing::HasSubstr;

ScoreSettings Small() {
  ScoreSettings settings;
  settings.least = 1;
  return settings;
}

Baseline BaselineOf(const MeasuredSpace& measured, const ScoreSettings& settings = Small()) {
  auto baseline = Baseline::Make(measured, settings);
  EXPECT_TRUE(baseline) << baseline.error().message;
  return std::move(*baseline);
}

TEST(Baseline, IsTheMeanOfTheBestOverAllDraws) {
  // Of 1, 2, 3, 4: two are drawn in six ways, three of which have the 1, two the 2 and not the 1.
  const MeasuredSpace line = LineOf({4, 1, 3, 2}, 10);
  const Baseline baseline = BaselineOf(line);
  EXPECT_EQ(baseline.optimum(), 1);
  EXPECT_EQ(baseline.median(), 2.5);
  EXPECT_EQ(baseline.seconds_each(), 10);
  EXPECT_DOUBLE_EQ(baseline.After(0), 2.5);
  EXPECT_DOUBLE_EQ(baseline.After(1), 2.5);
  EXPECT_DOUBLE_EQ(baseline.After(2), 10.0 / 6);
  EXPECT_DOUBLE_EQ(baseline.After(3), 1.25);
  EXPECT_DOUBLE_EQ(baseline.After(4), 1);
  // 0.95 of the way from 2.5 to 1 is 1.075, for which all four are needed: it ends before, with
  // three; 0.01 of it is 2.485: two.
  EXPECT_EQ(baseline.budget(), 3u);
  EXPECT_EQ(baseline.budget_seconds(), 30);
  EXPECT_EQ(baseline.moments().size(), 1000u);
  EXPECT_DOUBLE_EQ(baseline.moments().front(), 20);
  EXPECT_DOUBLE_EQ(baseline.moments().back(), 30);
  EXPECT_DOUBLE_EQ(baseline.At(9.9), 2.5);
  EXPECT_DOUBLE_EQ(baseline.At(29.9), 10.0 / 6);
  EXPECT_DOUBLE_EQ(baseline.At(30), 1.25);
  EXPECT_DOUBLE_EQ(baseline.At(1000), 1);
}

TEST(ReplayCost, WhatARowDoesNotSayOfItsBuildIsTheMeanOfTheOthers) {
  const MeasuredSpace line = LineOf({4, 1, 3, {}}, 10);
  MeasuredSpace::Parts parts;
  parts.space = line.file();
  parts.rows = line.rows();
  parts.rows[0].compile_seconds = 2;
  parts.rows[1].compile_seconds = 4;
  const auto measured = MeasuredSpace::Make(std::move(parts));
  ASSERT_TRUE(measured) << measured.error().message;
  const ReplayCost cost(*measured);
  EXPECT_DOUBLE_EQ(cost.Of(measured->rows()[0]), 12);
  EXPECT_DOUBLE_EQ(cost.Of(measured->rows()[2]), 13);
  // What failed need not have been built.
  EXPECT_DOUBLE_EQ(cost.Of(measured->rows()[3]), 10);
  EXPECT_DOUBLE_EQ(cost.mean(), (12 + 14 + 13 + 10) / 4.0);
}

TEST(Baseline, FailuresAreDrawnToo) {
  // 1, 2 and a failure, which counts as the median: 1.5.
  const Baseline baseline = BaselineOf(LineOf({2, {}, 1}));
  EXPECT_EQ(baseline.median(), 1.5);
  EXPECT_DOUBLE_EQ(baseline.After(1), 4.5 / 3);
  EXPECT_DOUBLE_EQ(baseline.After(2), (1 + 1 + 2) / 3.0);
  EXPECT_DOUBLE_EQ(baseline.After(3), 1);
}

TEST(Baseline, BudgetEndsAtTheCutoffButHasALeast) {
  // 100 points, 1 to 100: after n draws 101 / (n + 1) is expected. 0.9 of the way from 50.5 to 1 is
  // 5.95, which 16 draws reach: 101 / 17 = 5.94; 101 / 16 = 6.3.
  std::vector<std::optional<double>> times(100);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<double>(i + 1);
  const MeasuredSpace line = LineOf(times);
  ScoreSettings settings = Small();
  settings.cutoff = 0.9;
  const Baseline baseline = BaselineOf(line, settings);
  for (std::uint64_t n = 1; n <= 16; ++n) {
    EXPECT_NEAR(baseline.After(n), 101.0 / static_cast<double>(n + 1), 1e-9);
  }
  EXPECT_EQ(baseline.budget(), 16u);
  settings.least = 20;
  EXPECT_EQ(BaselineOf(line, settings).budget(), 20u);
}

TEST(Baseline, NeedsSomethingToFind) {
  EXPECT_THAT(Baseline::Make(LineOf({{}, {}}), {}).error().message,
              HasSubstr("no point has a time"));
  EXPECT_THAT(Baseline::Make(LineOf({1, 1, 1, 2}), {}).error().message,
              HasSubstr("as fast as the best"));
}

TEST(Curve, IsHowFarFromRandomToTheOptimum) {
  const MeasuredSpace line = LineOf({4, 1, 3, 2}, 10);
  ScoreSettings settings = Small();
  settings.moments = 2;  // 20 and 30 seconds: 10/6 and 1.25 are expected
  const Baseline baseline = BaselineOf(line, settings);
  ReplayRun best;
  best.improvements = {{10, 1}};
  EXPECT_DOUBLE_EQ(CurveOf(baseline, best)[0], 1);
  EXPECT_DOUBLE_EQ(CurveOf(baseline, best)[1], 1);
  ReplayRun late;
  late.improvements = {{20, 3}, {30, 2}};
  const std::vector<double> curve = CurveOf(baseline, late);
  EXPECT_DOUBLE_EQ(curve[0], (10.0 / 6 - 3) / (10.0 / 6 - 1));
  EXPECT_DOUBLE_EQ(curve[1], (1.25 - 2) / 0.25);
  // Who has found nothing has the median.
  EXPECT_DOUBLE_EQ(CurveOf(baseline, {})[0], (10.0 / 6 - 2.5) / (10.0 / 6 - 1));
}

// Once random search has looked at all points, it has found the best one, too: who was there first
// must not end at 0 for it.
TEST(Curve, OfASmallSpaceEndsBeforeAllIsKnown) {
  std::vector<std::optional<double>> times(16);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<double>(i + 1);
  for (const std::size_t points : {16, 3, 2}) {
    times.resize(points);
    const MeasuredSpace line = LineOf(times);
    const Baseline baseline = BaselineOf(line, ScoreSettings());
    EXPECT_GE(baseline.budget(), 1u) << points;
    EXPECT_LT(baseline.budget(), points);
    ReplayRun best;
    best.improvements = {{0, 1}};
    for (const double score : CurveOf(baseline, best)) EXPECT_DOUBLE_EQ(score, 1) << points;
  }
}

TEST(Score, OfRandomSearchIsZero) {
  // Evaluations that cost the same, where the baseline is exact; and a landscape, whose costs go
  // with the times.
  std::vector<std::optional<double>> times;
  std::mt19937_64 random(1);
  for (int i = 0; i < 700; ++i) {
    times.push_back(Unit(random) < 0.1 ? std::nullopt
                                       : std::optional(100 * std::exp(2 * Unit(random))));
  }
  const MeasuredSpace line = LineOf(times);
  const MeasuredSpace landscape = LandscapeOf(11);
  const std::vector<Arena> arenas = {{&line, BaselineOf(line)},
                                     {&landscape, BaselineOf(landscape)}};
  const StrategyScore score = ScoreOf(*FindStrategy("random"), arenas, 600, 1, nullptr);
  for (const std::vector<double>& scores : score.scores) {
    double sum = 0, squares = 0;
    for (const double one : scores) {
      sum += one;
      squares += one * one;
    }
    const double count = static_cast<double>(scores.size());
    const double mean = sum / count;
    const double error = std::sqrt((squares / count - mean * mean) / count);
    EXPECT_LT(error, 0.1);
    EXPECT_NEAR(mean, 0, 3 * error);
  }
  EXPECT_EQ(score.unknown, 0u);
  EXPECT_EQ(score.repeated, 0u);
}

TEST(Score, IsRepeatable) {
  const MeasuredSpace landscape = LandscapeOf(12);
  const std::vector<Arena> arenas = {{&landscape, BaselineOf(landscape)}};
  for (const StrategyRow& row : Strategies()) {
    const StrategyScore first = ScoreOf(row, arenas, 5, 9, nullptr);
    const StrategyScore second = ScoreOf(row, arenas, 5, 9, nullptr);
    EXPECT_EQ(first.scores, second.scores) << row.name;
    EXPECT_EQ(first.curves, second.curves) << row.name;
    EXPECT_EQ(first.scores[0].size(), 5u);
    // The mean over moments is the score, the mean over repeats the curve.
    const double of_curve = std::accumulate(first.curves[0].begin(), first.curves[0].end(), 0.0) /
                            static_cast<double>(first.curves[0].size());
    EXPECT_NEAR(of_curve, MeanOf(first.scores), 1e-9) << row.name;
  }
}

TEST(Score, IntervalsAndLevelsAreOverSpaces) {
  // Two spaces without noise: draws of two have the means 0, 0.5 (twice) and 1.
  const Scores two = {{0, 0, 0}, {1, 1, 1}};
  EXPECT_EQ(MeanOf(two), 0.5);
  EXPECT_EQ(IntervalOf(two, 1).low, 0);
  EXPECT_EQ(IntervalOf(two, 1).high, 1);
  // Better by little, but on each space and with each seed.
  const Scores little = {{0.1, 0.1, 0.1}, {1.1, 1.1, 1.1}};
  EXPECT_GT(LevelOf(little, two, 1), 0.999);
  EXPECT_LT(LevelOf(two, little, 1), 0.001);
  EXPECT_NEAR(LevelOf(two, two, 1), 0.5, 1e-9);
  // Better on one space, worse on the other: of four draws one loses, one wins, two win by little.
  const Scores mixed = {{-0.1, -0.1, -0.1}, {1.2, 1.2, 1.2}};
  EXPECT_NEAR(LevelOf(mixed, two, 1), 0.75, 0.03);
}

}  // namespace
}  // namespace cupilot::search
