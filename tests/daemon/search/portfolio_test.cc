// The portfolio and its members: what all strategies promise, and what each part does.
#include "search/portfolio/portfolio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <set>

#include "search/portfolio/bandit.h"
#include "search/portfolio/build_costs.h"
#include "search/portfolio/build_reports.h"
#include "search/portfolio/descent.h"
#include "search/score.h"
#include "tests/daemon/search/measured_spaces.h"
#include "tests/support/made_up/landscapes.h"

namespace cupilot::search {
namespace {

// 190 points or so.
MeasuredSpace SmallLandscape(LandscapeKind kind, std::uint64_t seed) {
  SpaceFile file;
  for (const char* name : {"a", "b", "c"}) {
    file.parameters.push_back(NumberParameter(name, {1, 2, 4, 8, 16, 32}));
    file.parameters.back().kind = ParameterKind::kPower;
  }
  file.require = {"a * b <= 256", "b * c >= 4"};
  auto measured = MakeLandscape(file, kind, seed, 0);
  EXPECT_TRUE(measured) << measured.error().message;
  return std::move(*measured);
}

// Those that hand out no point twice.
std::vector<StrategyRow> PortfolioRows() {
  std::vector<StrategyRow> rows;
  for (const StrategyRow& row : Strategies()) {
    if (row.name != "number_search") rows.push_back(row);
  }
  return rows;
}

void Tell(const MeasuredSpace& measured, Strategy& strategy, const Point& point) {
  strategy.Report(point, measured.Find(point)->microseconds);
}

TEST(Portfolio, FinishesASmallSpaceEachPointOnce) {
  const MeasuredSpace landscape = SmallLandscape(LandscapeKind::kRugged, 31);
  for (const StrategyRow& row : PortfolioRows()) {
    const auto strategy = row.make(landscape.space(), 1);
    std::set<Point> seen;
    while (const auto point = strategy->Next()) {
      ASSERT_TRUE(landscape.space().IsValid(*point)) << row.name;
      ASSERT_TRUE(seen.insert(*point).second) << row.name;
      Tell(landscape, *strategy, *point);
    }
    EXPECT_EQ(seen.size(), landscape.space().size()) << row.name;
  }
}

// Eight in flight, reported in another order: none twice, none missing, and an end only when all
// were handed out.
TEST(Portfolio, NeverWaitsForWhatIsInFlight) {
  const MeasuredSpace landscape = SmallLandscape(LandscapeKind::kRugged, 32);
  for (const StrategyRow& row : PortfolioRows()) {
    const auto strategy = row.make(landscape.space(), 2);
    std::set<Point> seen;
    std::deque<Point> in_flight;
    std::mt19937_64 order(5);
    while (seen.size() < landscape.space().size()) {
      const auto point = strategy->Next();
      ASSERT_TRUE(point) << row.name << " after " << seen.size();
      ASSERT_TRUE(seen.insert(*point).second) << row.name;
      in_flight.push_back(*point);
      if (in_flight.size() < 8) continue;
      const auto which = static_cast<std::ptrdiff_t>(Below(in_flight.size(), order));
      Tell(landscape, *strategy, in_flight[static_cast<std::size_t>(which)]);
      in_flight.erase(in_flight.begin() + which);
    }
    EXPECT_FALSE(strategy->Next()) << row.name;
  }
}

// The source's own point is known before anything else is; nobody goes on from it alone.
TEST(Portfolio, WhileNothingElseIsKnownItsPointsAreRandom) {
  const MeasuredSpace landscape = SmallLandscape(LandscapeKind::kRugged, 37);
  Point own = landscape.space().At(0);
  for (std::uint64_t i = 0; !landscape.Find(own)->microseconds; ++i) own = landscape.space().At(i);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const StrategyInputs inputs{landscape.space(), seed, {}, nullptr};
    Portfolio whole(inputs, PortfolioParts()), random(inputs, PortfolioParts::None());
    for (Portfolio* one : {&whole, &random}) Tell(landscape, *one, own);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(whole.Next(), random.Next()) << seed << " " << i;
  }
}

TEST(Portfolio, KnowsReportsOfPointsThatItDidNotNameAndOfNoPointsTwice) {
  const MeasuredSpace landscape = SmallLandscape(LandscapeKind::kRugged, 33);
  const auto strategy = FindStrategy("portfolio")->make(landscape.space(), 3);
  std::set<Point> seen;
  for (std::uint64_t number = 0; number < 40; ++number) {
    const Point point = landscape.space().At(number);
    seen.insert(point);
    Tell(landscape, *strategy, point);
    Tell(landscape, *strategy, point);
  }
  while (const auto point = strategy->Next()) {
    ASSERT_TRUE(seen.insert(*point).second);
    strategy->ReportFailure(*point, Failure::kUnknown);
  }
  EXPECT_EQ(seen.size(), landscape.space().size());
}

TEST(Portfolio, WorksWhereEverythingFailsAndOnTheSmallestSpaces) {
  const MeasuredSpace landscape = SmallLandscape(LandscapeKind::kRugged, 34);
  const MeasuredSpace one = LineOf({1}), two = LineOf({{}, 1});
  for (const StrategyRow& row : PortfolioRows()) {
    const auto strategy = row.make(landscape.space(), 1);
    std::size_t count = 0;
    while (const auto point = strategy->Next()) {
      strategy->ReportFailure(*point, Failure::kBuild);
      ++count;
    }
    EXPECT_EQ(count, landscape.space().size()) << row.name;
    for (const MeasuredSpace* measured : {&one, &two}) {
      const auto small = row.make(measured->space(), 1);
      EXPECT_EQ(Replay(*measured, *small, 100, nullptr).improvements.size(), 1u) << row.name;
    }
  }
}

// Points without numbers, a condition, and an order.
TEST(Portfolio, WorksOnHugeSpacesOfAllKinds) {
  std::vector<SpaceParameter> parameters;
  for (int i = 0; i < 22; ++i) {
    std::string name = "p";
    name += std::to_string(i);
    parameters.push_back(NumberParameter(name, {1, 2, 4, 8, 16, 32, 64, 128}));
  }
  parameters[1].when = "p0 > 4";
  SpaceParameter order;
  order.name = "order";
  order.kind = ParameterKind::kOrder;
  order.values = {0, 1, 2, 3, 4, 5};
  order.texts = {"ijk", "ikj", "jik", "jki", "kij", "kji"};
  parameters.push_back(order);
  const auto space = Space::Make(parameters, {"p2 * p3 <= 256"}, {});
  ASSERT_TRUE(space) << space.error().message;
  ASSERT_EQ(space->size(), std::uint64_t{1} << 63);
  for (const StrategyRow& row : PortfolioRows()) {
    const auto strategy = row.make(*space, 1);
    std::set<Point> seen;
    for (int i = 0; i < 120; ++i) {
      const auto point = strategy->Next();
      ASSERT_TRUE(point && space->IsValid(*point)) << row.name;
      ASSERT_TRUE(seen.insert(*point).second) << row.name;
      strategy->Report(*point, 100.0 + (*point)[3] + 3 * std::abs((*point)[7] - 4));
    }
  }
}

TEST(Portfolio, AsksForTheStandardPointFirstThenForChampionsAndOthersByTurns) {
  const MeasuredSpace landscape = LandscapeOf(35);
  std::vector<Point> champions = ChampionsFor(landscape.space(), landscape, 5);
  champions[1] = {0, 5, 5, 60000};  // none: there is a valid one next to it
  for (const char* name : {"portfolio", "transfer"}) {
    const auto strategy = FindStrategy(name)->make_from({landscape.space(), 1, champions, nullptr});
    std::vector<Point> asked;
    for (int i = 0; i < 6; ++i) {
      asked.push_back(*strategy->Next());
      Tell(landscape, *strategy, asked.back());
    }
    // c * d >= 4 does not hold for the standard values.
    EXPECT_EQ(asked[0], champions[0]) << name;
    EXPECT_TRUE(landscape.space().IsValid(asked[2])) << name;
    EXPECT_EQ(asked[2][1], 5) << name;
    EXPECT_EQ(asked[4], champions[2]) << name;
  }
  const MeasuredSpace line = LineOf({4, 3, 2, 1});
  const auto strategy =
      FindStrategy("portfolio")->make_from({line.space(), 1, {Point{2}}, nullptr});
  EXPECT_EQ(*strategy->Next(), Point{0});
  EXPECT_EQ(*strategy->Next(), Point{2});
}

TEST(Bandit, TurnsToTheArmThatGainsAndComesBackToTheOthers) {
  Bandit bandit({0.5, 0.5, 0.5});
  const std::vector<bool> none_barred(3);
  const auto turns = [&](std::size_t gaining) {
    std::vector<int> turns_of(3);
    for (int i = 0; i < 200; ++i) {
      const std::size_t arm = bandit.Choose(none_barred);
      bandit.Reward(arm, arm == gaining ? 0.4 : 0);
      ++turns_of[arm];
    }
    return turns_of;
  };
  for (const std::size_t gaining : {1u, 2u, 0u}) {
    const std::vector<int> turns_of = turns(gaining);
    EXPECT_GT(turns_of[gaining], 100) << gaining;
    for (const int count : turns_of) EXPECT_GT(count, 4);
  }
  EXPECT_EQ(bandit.Choose({true, false, true}), 1u);
}

// Steps from the best until none helps, whoever found it, and then goes on from elsewhere.
TEST(Descent, EndsAtALocalOptimumAndGoesOnFromABetterPoint) {
  const MeasuredSpace line = LineOf({5, 4, 3, 4, 5, 6, 5, 2, 1, 2});
  std::mt19937_64 random(1);
  History history;
  const Scales scales(line.space());
  const Features features(line.space(), scales, nullptr);
  const Feasibility feasibility(features, true);
  const BuildCosts build_costs(features);
  const BuildReports build_reports(features);
  const Commons commons{line.space(), history, feasibility, build_costs, build_reports, random};
  Descent descent(commons);
  const auto put = [&](const Point& point) {
    history.Take(point);
    descent.Learn(*history.Put(point, line.Find(point)->microseconds, Failure::kUnknown));
  };
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto point = descent.Propose();
      if (!point) break;
      put(*point);
    }
  };
  put({0});
  run(3);
  EXPECT_EQ(history.best()->point, Point{2});
  EXPECT_EQ(history.results().size(), 4u);
  EXPECT_TRUE(history.IsTaken({3}));
  put({7});
  run(3);
  EXPECT_EQ(history.best()->point, Point{8});
  EXPECT_TRUE(history.IsTaken({9}));
  EXPECT_FALSE(history.IsTaken({5}));
  // All values of the one coordinate.
  run(10);
  EXPECT_EQ(history.results().size(), line.space().size());
}

// A long history: the process is fitted anew a part at a time, and what comes in meanwhile is seen.
TEST(Portfolio, FindsTheBestAfterALongHistoryOfOthers) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 1; i <= 24; ++i) sizes.push_back(i);
  auto space = Space::Make(
      {NumberParameter("a", sizes), NumberParameter("b", sizes), NumberParameter("c", sizes)}, {},
      {});
  ASSERT_TRUE(space) << space.error().message;
  const auto time = [](const Point& point) {
    double of = 1;
    const std::array<double, 3> best = {4, 17, 11};
    for (std::size_t i = 0; i < 3; ++i) of += 0.01 * std::pow(point[i] - best[i], 2);
    return of;
  };
  PortfolioParts only = PortfolioParts::None();
  only.bayesian = true;
  Portfolio portfolio({*space, 1, {}, nullptr}, only);
  std::mt19937_64 random(5);
  std::set<Point> known;
  while (known.size() < 700) {
    const Point point = space->Draw(random);
    // Far from the best.
    if (time(point) > 1.5 && known.insert(point).second) portfolio.Report(point, time(point));
  }
  double best = 9;
  for (int i = 0; i < 100; ++i) {
    const auto point = portfolio.Next();
    ASSERT_TRUE(point);
    EXPECT_TRUE(known.insert(*point).second);
    best = std::min(best, time(*point));
    portfolio.Report(*point, time(*point));
  }
  EXPECT_LE(best, 1.0101) << "next to the best of 13,824";
}

// On landscapes of each kind, few repeats: what replay_bench shows with many.
// Larger tiles are faster until they need more than a thread has, which nobody wrote down: 38 % of
// the points fail, and all that are faster than the best of the others are among them.
TEST(Portfolio, WhereTheFastestFailItLooksElsewhere) {
  std::vector<SpaceParameter> parameters = {NumberParameter("bx", {8, 16, 32, 64, 128}),
                                            NumberParameter("by", {1, 2, 4, 8, 16}),
                                            NumberParameter("tx", {1, 2, 4, 8, 16}),
                                            NumberParameter("ty", {1, 2, 4, 8, 16}),
                                            NumberParameter("pad", {0, 1}),
                                            NumberParameter("unroll", {0, 1})};
  const auto space = Space::Make(parameters, {"32 <= bx * by", "bx * by <= 1024"}, {});
  ASSERT_TRUE(space) << space.error().message;
  const auto time_of = [&](const Point& point) -> std::optional<double> {
    const auto at = [&](std::size_t i) { return static_cast<double>(space->ValueOf(point, i)); };
    if (at(2) * at(3) > 16) return std::nullopt;
    const double threads = std::log2(at(0) * at(1) / 256), shape = std::log2(at(0) / 32);
    return 100 *
           (1 + 0.03 * threads * threads + 0.02 * shape * shape + 0.02 * at(4) + 0.01 * at(5)) /
           std::pow(at(2) * at(3), 0.4);
  };
  double optimum = 1e9;
  for (std::uint64_t i = 0; i < space->size(); ++i) {
    optimum = std::min(optimum, time_of(space->At(i)).value_or(optimum));
  }
  for (const char* name : {"portfolio", "bayesian"}) {
    int failed = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto strategy = FindStrategy(name)->make(*space, seed);
      double best = 1e9;
      for (int i = 0; i < 100; ++i) {
        const auto point = strategy->Next();
        ASSERT_TRUE(point);
        const auto time = time_of(*point);
        if (time) {
          strategy->Report(*point, time);
        } else {
          strategy->ReportFailure(*point, Failure::kLimits);
          ++failed;
        }
        best = std::min(best, time.value_or(best));
      }
      EXPECT_LT(best, optimum * 1.01) << name << " " << seed;
    }
    EXPECT_LT(failed, 3 * 30) << name;
  }
}

TEST(Portfolio, IsBetterThanRandomSearch) {
  double random = 0, portfolio = 0;
  for (const LandscapeKind kind : kLandscapeKinds) {
    const MeasuredSpace measured = SmallLandscape(kind, 3);
    auto baseline = Baseline::Make(measured, {});
    ASSERT_TRUE(baseline) << baseline.error().message;
    const std::vector<Arena> arenas = {{&measured, std::move(*baseline)}};
    random += MeanOf(ScoreOf(*FindStrategy("random"), arenas, 5, 1, nullptr).scores) / 4;
    portfolio += MeanOf(ScoreOf(*FindStrategy("portfolio"), arenas, 5, 1, nullptr).scores) / 4;
  }
  EXPECT_GT(portfolio, random + 0.3);
}

}  // namespace
}  // namespace cupilot::search
