// The searches that ours are compared with do what they should: else a comparison says nothing.
#include "tests/support/rivals/rival_strategies.h"

#include <gtest/gtest.h>

#include "search/score.h"
#include "tests/daemon/search/measured_spaces.h"

namespace cupilot::search {
namespace {

TEST(Rivals, AreFunctionsOfTheirSeedAndStayInTheSpace) {
  const MeasuredSpace landscape = LandscapeOf(21);
  for (const StrategyRow& row : RivalStrategies()) {
    const auto points_of = [&](std::uint64_t seed) {
      const auto strategy = row.make(landscape.space(), seed);
      std::vector<Point> points;
      while (points.size() < 1000) {
        const auto point = strategy->Next();
        EXPECT_TRUE(point && landscape.space().IsValid(*point)) << row.name;
        if (!point) break;
        points.push_back(*point);
        strategy->Report(*point, landscape.Find(*point)->microseconds);
      }
      return points;
    };
    EXPECT_EQ(points_of(1), points_of(1)) << row.name;
    EXPECT_NE(points_of(1), points_of(2)) << row.name;
  }
}

TEST(Rivals, AreBetterThanRandomSearch) {
  const MeasuredSpace first = LandscapeOf(22), second = LandscapeOf(23);
  std::vector<Arena> arenas;
  for (const MeasuredSpace* measured : {&first, &second}) {
    auto baseline = Baseline::Make(*measured, {});
    ASSERT_TRUE(baseline) << baseline.error().message;
    arenas.push_back({measured, std::move(*baseline)});
  }
  const StrategyScore random = ScoreOf(*FindStrategy("random"), arenas, 50, 1, nullptr);
  for (const StrategyRow& row : RivalStrategies()) {
    const StrategyScore score = ScoreOf(row, arenas, 50, 1, nullptr);
    EXPECT_GT(LevelOf(score.scores, random.scores, 1), 0.99) << row.name;
  }
}

// Points of which there is one, or which have no neighbours, end no search in an endless loop.
TEST(Rivals, WorkOnTheSmallestSpaces) {
  const MeasuredSpace one = LineOf({1}), two = LineOf({{}, 1});
  for (const StrategyRow& row : RivalStrategies()) {
    for (const MeasuredSpace* measured : {&one, &two}) {
      const auto strategy = row.make(measured->space(), 1);
      EXPECT_EQ(Replay(*measured, *strategy, 100, nullptr).improvements.size(), 1u) << row.name;
    }
  }
}

}  // namespace
}  // namespace cupilot::search
