// Strategies by name, and their runs on measured spaces.
#include "search/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "search/replay.h"
#include "tests/daemon/search/measured_spaces.h"

namespace cupilot::search {
namespace {

using ::testing::HasSubstr;

// Asks for these points, in this order.
class Scripted : public Strategy {
 public:
  explicit Scripted(std::vector<Point> points) : points_(std::move(points)) {}
  std::optional<Point> Next() override {
    if (next_ == points_.size()) return std::nullopt;
    return points_[next_++];
  }
  void Report(const Point&, std::optional<double> microseconds) override {
    results.push_back(microseconds);
  }
  std::vector<std::optional<double>> results;

 private:
  std::vector<Point> points_;
  std::size_t next_ = 0;
};

class Forever : public Strategy {
 public:
  std::optional<Point> Next() override { return Point{0}; }
  void Report(const Point&, std::optional<double>) override {}
};

TEST(Replay, GivesAndCountsWhatTheRowsSay) {
  MeasuredSpace::Parts parts;
  parts.space.parameters = {NumberParameter("x", {0, 1, 2, 3})};
  parts.rows = {
      {{0}, 5.0, 1, "", 1.0, 0.5}, {{1}, {}, 0, "compile", 2.0, 0}, {{2}, 4.0, 1, "", 1.0, 1.0}};
  const auto measured = MeasuredSpace::Make(std::move(parts));
  ASSERT_TRUE(measured) << measured.error().message;
  Scripted strategy({{1}, {0}, {3}, {0}, {2}});
  const ReplayRun run = Replay(*measured, strategy, 100, nullptr);
  EXPECT_THAT(strategy.results, ::testing::ElementsAre(std::nullopt, 5.0, std::nullopt, 5.0, 4.0));
  EXPECT_EQ(run.evaluations, 3u);
  EXPECT_EQ(run.failed, 1u);
  EXPECT_EQ(run.unknown, 1u);
  EXPECT_EQ(run.repeated, 1u);
  EXPECT_TRUE(run.exhausted);
  EXPECT_EQ(run.seconds, 2 + 1.5 + 2);
  ASSERT_EQ(run.improvements.size(), 2u);
  EXPECT_EQ(run.improvements[0].seconds, 3.5);
  EXPECT_EQ(run.improvements[0].microseconds, 5);
  EXPECT_EQ(run.improvements[1].seconds, 5.5);
  EXPECT_EQ(run.improvements[1].microseconds, 4);
}

TEST(Replay, EndsWithTheBudgetAndWithWhoTriesNothingNew) {
  const MeasuredSpace line = LineOf({3, 2, 1});
  Scripted strategy({{0}, {1}, {2}});
  const ReplayRun run = Replay(line, strategy, 2.5, nullptr);
  EXPECT_EQ(run.evaluations, 2u);
  EXPECT_EQ(run.improvements.back().microseconds, 2);
  EXPECT_FALSE(run.exhausted);
  Forever forever;
  EXPECT_EQ(Replay(line, forever, 2.5, nullptr).evaluations, 1u);
}

TEST(Replay, CountsTheStrategysOwnTimeByItsClock) {
  const MeasuredSpace line = LineOf({3, 2, 1});
  double now = 0;
  const ReplayClock clock = [&now] { return now += 0.25; };  // every call takes so long
  Scripted strategy({{0}, {1}, {2}});
  const ReplayRun run = Replay(line, strategy, 100, clock);
  // Three points with their reports, and the question that got no answer.
  EXPECT_EQ(run.search_seconds, 7 * 0.25);
  EXPECT_EQ(run.longest_step, 0.5);
  EXPECT_EQ(run.improvements[0].seconds, 1.25);
  EXPECT_EQ(run.improvements[1].seconds, 2.75);
}

TEST(Replay, EvaluationsWithoutCostsTakeASecondEach) {
  const MeasuredSpace line = LineOf({3, 2, 1}, 0);
  Scripted strategy({{0}, {1}});
  EXPECT_EQ(Replay(line, strategy, 100, nullptr).seconds, 2);
}

TEST(Strategies, HaveNames) {
  for (const StrategyRow& row : Strategies()) {
    const auto found = FindStrategy(row.name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->make_from, row.make_from);
  }
  const auto none = FindStrategy("clever");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("random, number_search"));
}

// Each strategy: points are valid, and the same seed gives the same run.
TEST(Strategies, AreFunctionsOfTheirSeed) {
  const MeasuredSpace landscape = LandscapeOf(3);
  for (const StrategyRow& row : Strategies()) {
    const auto points_of = [&](std::uint64_t seed) {
      const auto strategy = row.make(landscape.space(), seed);
      std::vector<Point> points;
      while (points.size() < 200) {
        const auto point = strategy->Next();
        if (!point) break;
        EXPECT_TRUE(landscape.space().IsValid(*point)) << row.name;
        points.push_back(*point);
        strategy->Report(*point, landscape.Find(*point)->microseconds);
      }
      return points;
    };
    EXPECT_EQ(points_of(1), points_of(1)) << row.name;
    EXPECT_NE(points_of(1), points_of(2)) << row.name;
  }
}

TEST(RandomStrategy, DrawsEachValidPointOnceAndUniformly) {
  const MeasuredSpace landscape = LandscapeOf(4);
  const Space& space = landscape.space();
  const auto random = FindStrategy("random");
  const auto strategy = random->make(space, 1);
  std::set<Point> seen;
  while (const auto point = strategy->Next()) {
    EXPECT_TRUE(space.IsValid(*point));
    EXPECT_TRUE(seen.insert(*point).second);
  }
  EXPECT_EQ(seen.size(), space.size());
  // Each of six orders of three points equally often: 6,000 tries, 1,000 each, 5 deviations of 29.
  const MeasuredSpace line = LineOf({1, 2, 3});
  std::map<std::vector<Point>, int> orders;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const auto one = random->make(line.space(), seed);
    ++orders[{*one->Next(), *one->Next(), *one->Next()}];
  }
  EXPECT_EQ(orders.size(), 6u);
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, 1000, 145);
}

TEST(NumberStrategy, StartsAtTheStandardPointAndFindsAValley) {
  std::vector<std::optional<double>> times;
  for (int i = 0; i < 40; ++i) times.push_back(100 + (i - 29) * (i - 29));
  const MeasuredSpace line = LineOf(times);
  const auto strategy = FindStrategy("number_search")->make(line.space(), 5);
  const auto first = strategy->Next();
  EXPECT_EQ(first, Point{0});
  strategy->Report(*first, times[0]);
  double best = *times[0];
  for (int i = 0; i < 25; ++i) {
    const auto point = strategy->Next();
    ASSERT_TRUE(point);
    best = std::min(best, *line.Find(*point)->microseconds);
    strategy->Report(*point, line.Find(*point)->microseconds);
  }
  EXPECT_EQ(best, 100);
}

TEST(NumberStrategy, WorksWhereTheStandardPointIsNotValidOrFails) {
  MeasuredSpace::Parts parts;
  parts.space.parameters = {NumberParameter("x", {0, 1, 2, 3, 4, 5})};
  parts.space.require = {"x != 0"};
  for (std::uint16_t i = 1; i < 6; ++i) parts.rows.push_back({{i}, 10.0 - i, 1, "", 1, 1});
  const auto measured = MeasuredSpace::Make(std::move(parts));
  ASSERT_TRUE(measured) << measured.error().message;
  auto strategy = FindStrategy("number_search")->make(measured->space(), 1);
  EXPECT_EQ(Replay(*measured, *strategy, 100, nullptr).improvements.back().microseconds, 5);
  const MeasuredSpace line = LineOf({{}, 3, 2, 1});
  strategy = FindStrategy("number_search")->make(line.space(), 1);
  EXPECT_EQ(Replay(line, *strategy, 100, nullptr).improvements.back().microseconds, 1);
}

}  // namespace
}  // namespace cupilot::search
