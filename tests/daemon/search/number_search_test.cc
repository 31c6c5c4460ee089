#include "search/number_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

namespace cupilot::search {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

records::Tunable Choice(const std::string& name, std::vector<std::int64_t> values,
                        std::int64_t present) {
  records::Tunable tunable;
  tunable.name = name;
  tunable.values = std::move(values);
  tunable.default_value = present;
  return tunable;
}

NumberSpace Blocks() {
  NumberSpace space;
  space.tunables = {Choice("X", {8, 16, 32, 64, 128, 256}, 16), Choice("Y", {1, 2, 4, 8, 16}, 16)};
  space.require = {"X * Y <= 1024", "width % X == 0"};
  space.constants.integers["width"] = 1024;
  return space;
}

// One peak, at X=64, Y=4.
double SpeedOf(const Values& values) {
  const double x = std::log2(static_cast<double>(values[0].second)) - 6;
  const double y = std::log2(static_cast<double>(values[1].second)) - 2;
  return 3.0 / (1.0 + x * x + y * y);
}

TEST(NumberSearch, NeverGivesAnIllegalOrRepeatedPoint) {
  const NumberSpace space = Blocks();
  NumberSearch search(space, 7);
  std::set<Values> seen = {space.Default()};
  while (const auto values = search.Next()) {
    EXPECT_TRUE(space.Legal(*values));
    EXPECT_TRUE(seen.insert(*values).second);
    search.Report(*values, SpeedOf(*values));
  }
  std::size_t legal = 0;
  for (const std::int64_t x : space.tunables[0].values) {
    for (const std::int64_t y : space.tunables[1].values) {
      legal += space.Legal({{"X", x}, {"Y", y}}) ? 1 : 0;
    }
  }
  EXPECT_EQ(seen.size(), legal);
  EXPECT_EQ(search.best(), (Values{{"X", 64}, {"Y", 4}}));
}

// Of points that are as fast, those that take a tenth to build.
TEST(NumberSearch, BuildsWhatIsCheapFirst) {
  NumberSpace space;
  std::vector<std::int64_t> sizes(100);
  std::iota(sizes.begin(), sizes.end(), 1);
  space.tunables = {Choice("X", sizes, 1), Choice("Y", sizes, 1), Choice("UNROLL", {1, 2}, 1)};
  const auto dear_of = [&](bool told) {
    int dear = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      NumberSearch search(space, seed, std::string(kDefaultStrategy));
      for (int i = 0; i < 60; ++i) {
        const auto values = search.Next();
        const bool is_dear = (*values)[2].second == 2;
        dear += is_dear ? 1 : 0;
        const double x = std::log2(static_cast<double>((*values)[0].second) / 40);
        const double y = std::log2(static_cast<double>((*values)[1].second) / 10);
        search.Report(*values, 3.0 / (1.0 + x * x + y * y),
                      {0, 0,
                       !told     ? 0
                       : is_dear ? 10.0
                                 : 1.0});
      }
    }
    return dear;
  };
  EXPECT_LT(dear_of(true), 0.85 * dear_of(false));
}

// A device that goes says nothing of the points that were on it.
TEST(NumberSearch, WhatFailedForNoReasonOfItsOwnTeachesNothing) {
  const auto tried_there_after = [](Failure failure) {
    NumberSpace space;
    std::vector<std::int64_t> sizes(60);
    std::iota(sizes.begin(), sizes.end(), 1);
    space.tunables = {Choice("X", sizes, 1), Choice("Y", sizes, 1)};
    int tried = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      NumberSearch search(space, seed);
      for (int i = 0; i < 80; ++i) {
        const auto values = search.Next();
        const double x = static_cast<double>((*values)[0].second);
        const bool fails = x > 30 && i < 30;
        tried += i >= 30 && x > 30 ? 1 : 0;
        // The peak is where the first ones have failed.
        const std::optional<double> speedup =
            fails ? std::nullopt : std::optional(1 + x * x / 3600);
        search.Report(*values, speedup, {}, failure);
      }
    }
    return tried;
  };
  EXPECT_GT(tried_there_after(Failure::kUnknown), tried_there_after(Failure::kWrong));
}

TEST(NumberSearch, FindsThePeakSoonerThanByTryingAll) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    NumberSearch search(Blocks(), seed);
    int evaluations = 0;
    while (search.best() != Values{{"X", 64}, {"Y", 4}}) {
      const auto values = search.Next();
      ASSERT_TRUE(values.has_value());
      search.Report(*values, SpeedOf(*values));
      ++evaluations;
    }
    EXPECT_LE(evaluations, 20) << "seed " << seed;
  }
}

TEST(NumberSearch, IsAFunctionOfSeedAndResults) {
  NumberSearch one(Blocks(), 3);
  NumberSearch two(Blocks(), 3);
  for (int i = 0; i < 12; ++i) {
    const auto a = one.Next();
    ASSERT_EQ(a, two.Next());
    ASSERT_TRUE(a.has_value());
    one.Report(*a, SpeedOf(*a));
    two.Report(*a, SpeedOf(*a));
  }
}

TEST(NumberSearch, GoesOnAfterRejectedPoints) {
  NumberSearch search(Blocks(), 1);
  int count = 0;
  while (const auto values = search.Next()) {
    search.Report(*values, std::nullopt);
    ++count;
  }
  EXPECT_GT(count, 15);
  EXPECT_EQ(search.best(), Blocks().Default());
  EXPECT_EQ(search.best_speedup(), 1.0);
}

TEST(NumberSearch, TheBestIsWhatIsKnownByNow) {
  NumberSearch search(Blocks(), 1);
  std::set<double> speeds;
  while (const auto values = search.Next()) {
    search.Report(*values, SpeedOf(*values));
    speeds.insert(SpeedOf(*values));
  }
  const Values first = search.best();
  const double second = *std::next(speeds.rbegin());
  search.Correct(first, std::nullopt);
  EXPECT_EQ(SpeedOf(search.best()), second);
  EXPECT_EQ(search.best_speedup(), second);
  search.Correct(first, 4.0);
  EXPECT_EQ(search.best(), first);
  EXPECT_EQ(search.best_speedup(), 4.0);
  // Of what is no point nothing is known better.
  search.Correct({{"X", 8}, {"Y", 3}}, 9.0);
  EXPECT_EQ(search.best_speedup(), 4.0);
}

TEST(NumberSearch, HandlesSpacesThatAreTooLargeToList) {
  NumberSpace space;
  std::vector<std::int64_t> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<std::size_t>(i)] = i + 1;
  space.tunables = {Choice("A", values, 1), Choice("B", values, 1), Choice("C", values, 1)};
  space.require = {"A + B + C <= 100"};
  NumberSearch search(space, 5);
  for (int i = 0; i < 300; ++i) {
    const auto point = search.Next();
    ASSERT_TRUE(point.has_value());
    EXPECT_TRUE(space.Legal(*point));
    search.Report(*point, static_cast<double>((*point)[0].second));
  }
  EXPECT_GT(search.best_speedup(), 50);
}

TEST(NumberSearch, TriesEarlyWhatWonElsewhere) {
  NumberSpace space = Blocks();
  // The second one's X is none of its own, the third is of other tunables.
  space.champions = {{{"Y", 4}, {"X", 64}}, {{"X", 120}, {"Y", 2}}, {{"Z", 3}}};
  NumberSearch search(space, 1, "portfolio");
  std::vector<Values> first;
  for (int i = 0; i < 6; ++i) {
    first.push_back(*search.Next());
    search.Report(first.back(), SpeedOf(first.back()));
  }
  EXPECT_THAT(first, Contains(Values{{"X", 64}, {"Y", 4}}));
  EXPECT_THAT(first, Contains(Values{{"X", 128}, {"Y", 2}}));
}

TEST(NumberSearch, IsEmptyWithoutTunables) {
  NumberSearch search({}, 1);
  EXPECT_FALSE(search.Next().has_value());
}

// Ten points of a hundred million: who only asks points that it draws finds none of them.
TEST(NumberSearch, FindsWhatFewPointsFulfil) {
  NumberSpace space;
  for (const char* name : {"A", "B", "C", "D", "E", "F", "G", "H"}) {
    space.tunables.push_back(Choice(name, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1));
    if (space.tunables.size() < 2) continue;
    space.require.push_back(space.tunables[space.tunables.size() - 2].name + " == " + name);
  }
  NumberSearch search(space, 1);
  std::set<std::int64_t> seen;
  while (const auto values = search.Next()) {
    EXPECT_TRUE(space.Legal(*values));
    seen.insert((*values)[7].second);
    search.Report(*values, 1.0);
  }
  EXPECT_THAT(seen, SizeIs(9));
  EXPECT_EQ(search.size(), 10u);
  EXPECT_THAT(search.warning(), IsEmpty());
}

TEST(NumberSearch, WhatCannotBeSolvedIsAskedOfEachPoint) {
  NumberSpace space = Blocks();
  space.constants.floats["scale"] = 20.0;
  space.require.push_back("X > scale");
  space.also = [](const Values& values) { return values[1].second != 4; };
  NumberSearch search(space, 2);
  int count = 0;
  while (const auto values = search.Next()) {
    EXPECT_TRUE(space.Legal(*values));
    search.Report(*values, std::nullopt);
    ++count;
  }
  EXPECT_EQ(count, 4 * 4 - 3);  // X from 32 to 256 by Y without 4; three have too many threads
  EXPECT_THAT(search.warning(), HasSubstr("'X > scale' is asked of each point that is drawn"));
}

TEST(NumberSearch, SaysWhatIsTooLargeToBeSolved) {
  NumberSpace space;
  std::vector<std::int64_t> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<std::size_t>(i)] = i + 1;
  space.tunables = {Choice("A", values, 1), Choice("B", values, 1), Choice("C", values, 1),
                    Choice("D", values, 1)};
  space.require = {"A % 2 == 1", "A + B + C + D != 100"};
  NumberSearch search(space, 5);
  for (int i = 0; i < 100; ++i) {
    const auto point = search.Next();
    ASSERT_TRUE(point.has_value());
    EXPECT_TRUE(space.Legal(*point));
    search.Report(*point, static_cast<double>((*point)[0].second));
  }
  EXPECT_GT(search.best_speedup(), 30);
  EXPECT_THAT(search.warning(), HasSubstr("too large to be solved"));
  EXPECT_THAT(search.warning(), HasSubstr("'A + B + C + D != 100'"));
}

TEST(NumberSearch, SaysWhichConstraintLeavesNothing) {
  NumberSpace space = Blocks();
  space.require.push_back("X > 1000");
  NumberSearch search(space, 1);
  EXPECT_FALSE(search.Next());
  EXPECT_THAT(search.warning(), HasSubstr("X > 1000"));
}

// Every row of the table alone: it tries legal points, each once, and never the original.
TEST(NumberSearch, RunsEachStrategyByItsName) {
  for (const StrategyRow& row : Strategies()) {
    const NumberSpace space = Blocks();
    NumberSearch search(space, 3, std::string(row.name));
    std::set<Values> seen = {space.Default()};
    for (int i = 0; i < 10; ++i) {
      const auto values = search.Next();
      ASSERT_TRUE(values) << row.name;
      EXPECT_TRUE(space.Legal(*values)) << row.name;
      EXPECT_TRUE(seen.insert(*values).second) << row.name;
      search.Report(*values, SpeedOf(*values));
    }
  }
  NumberSearch search(Blocks(), 3, "clever");
  EXPECT_FALSE(search.Next());
  EXPECT_THAT(search.warning(), HasSubstr("no strategy 'clever'"));
}

TEST(NumberSearch, LookingAheadChangesNothing) {
  NumberSearch one(Blocks(), 3);
  NumberSearch two(Blocks(), 3);
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(two.HasNext());
    EXPECT_TRUE(two.HasNext());
    const auto a = one.Next();
    ASSERT_EQ(a, two.Next());
    one.Report(*a, SpeedOf(*a));
    two.Report(*a, SpeedOf(*a));
  }
}

TEST(NumberSearch, TriesTheNearestOfTheListWhereTheSourceHasAnotherValue) {
  NumberSpace space;
  space.tunables = {Choice("X", {8, 16, 16, 32}, 20)};
  NumberSearch search(space, 1);
  std::vector<std::int64_t> seen;
  while (const auto values = search.Next()) {
    seen.push_back((*values)[0].second);
    search.Report(*values, 1.5);
  }
  EXPECT_THAT(seen, UnorderedElementsAre(8, 16, 32));
  EXPECT_EQ(seen.front(), 16);
}

TEST(SpaceOf, DemandsOfAVariantThatItsLaunchesAreLegal) {
  records::Variant variant;
  variant.tunables = {{"BX", {32, 64, 2048}}, {"NAME", {"a", "b"}}};
  variant.values = {{"BX", 32}};
  variant.require = {"BX > 16"};
  records::Launch launch;
  launch.entry = "v";
  launch.block = {"BX", "8", "1"};
  launch.grid = {"ceil_div(width, BX)", "1", "1"};
  variant.launches = {launch};
  records::Case workload;
  records::Argument width;
  width.name = "width";
  width.type = "int";
  width.value = "256";
  workload.arguments = {width};
  const NumberSpace space = SpaceOf(variant, workload);
  EXPECT_EQ(space.Default(), (Values{{"BX", 32}}));
  EXPECT_TRUE(space.Legal({{"BX", 64}}));
  EXPECT_FALSE(space.Legal({{"BX", 2048}}));
  const auto solved = Solve(space, {});
  ASSERT_TRUE(solved) << solved.error().message;
  EXPECT_EQ(solved->space.size(), 2u);
}

TEST(SpaceOf, DemandsALegalLaunchForTheCase) {
  records::Kernel kernel;
  kernel.tunables = {Choice("BX", {16, 64, 512, 2048}, 16)};
  kernel.require = {"BX >= 16"};
  kernel.launch_block = {"BX", "4", "1"};
  kernel.launch_grid = {"width / BX", "1", "1"};
  records::Case workload;
  records::Argument width;
  width.name = "width";
  width.type = "int";
  width.value = "256";
  workload.arguments = {width};
  workload.grid = {"ceil_div(width, 16)", "1", "1"};
  workload.block = {"16", "4", "1"};
  const NumberSpace space = SpaceOf(kernel, workload);
  EXPECT_TRUE(space.Legal({{"BX", 64}}));
  EXPECT_FALSE(space.Legal({{"BX", 512}}));  // a grid of none
  EXPECT_FALSE(space.Legal({{"BX", 2048}}));
  EXPECT_EQ(space.constants.integers.at("grid_x"), 16);
  EXPECT_EQ(space.constants.integers.at("$0"), 256);
}

}  // namespace
}  // namespace cupilot::search
