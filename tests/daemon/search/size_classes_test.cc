#include "search/size_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::search {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

SizedCase Sized(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t grid = 4) {
  return {name, 1.0, {{"m", m}, {"n", n}, {"grid_x", grid}, {"grid_y", 1}, {"grid_z", 1}}};
}

CaseSpeedup Reached(const std::string& name, double speedup) {
  return {name, speedup, 0.995 * speedup, speedup, true};
}

std::string GuardOf(const std::vector<SizedCase>& cases, const std::vector<double>& speedups,
                    const Running& running = {}) {
  std::vector<CaseSpeedup> reached;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    reached.push_back(Reached(cases[i].name, speedups[i]));
  }
  const auto found = FindSizeClass(cases, reached, running);
  return found ? found->guard : "none";
}

TEST(SizeClasses, OneScalarTellsWinnersFromLosers) {
  const std::vector<SizedCase> cases = {Sized("a", 8, 64), Sized("b", 8, 256), Sized("c", 8, 4096)};
  EXPECT_EQ(GuardOf(cases, {0.5, 1.5, 2}), "n >= 256");
  EXPECT_EQ(GuardOf(cases, {1.5, 1.5, 0.9}), "n <= 256");
  // What neither wins nor loses may lie on either side.
  EXPECT_EQ(GuardOf(cases, {0.5, 1.0, 2}), "n >= 4096");
  EXPECT_EQ(GuardOf(cases, {0.5, 1.1, 1.0}), "n >= 256");
}

TEST(SizeClasses, WhatDoesNotSeparateHasNone) {
  const std::vector<SizedCase> cases = {Sized("a", 8, 64), Sized("b", 8, 256), Sized("c", 8, 4096)};
  EXPECT_EQ(GuardOf(cases, {2, 0.5, 2}), "none");
  EXPECT_EQ(GuardOf(cases, {2, 1.0, 1.5}), "none") << "nothing loses";
  EXPECT_EQ(GuardOf(cases, {0.9, 1.0, 1.01}), "none") << "nothing wins";
  EXPECT_EQ(GuardOf({Sized("a", 8, 64), Sized("b", 8, 64)}, {0.5, 2}), "none") << "contents alone";
}

TEST(SizeClasses, TwoScalarsOrTheGeometryWhereOneDoesNotDo) {
  const std::vector<SizedCase> shapes = {Sized("wide", 2, 4096), Sized("high", 4096, 2),
                                         Sized("large", 1024, 1024)};
  EXPECT_EQ(GuardOf(shapes, {0.5, 0.5, 2}), "m * n >= 1048576");
  EXPECT_EQ(GuardOf({Sized("a", 8, 8, 1), Sized("b", 8, 8, 90)}, {0.5, 2}), "grid_x >= 90");
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(GuardOf({Sized("a", 2, huge), Sized("b", huge, 2), Sized("c", 8, 8)}, {0.5, 0.5, 2}),
            "none")
      << "products that overflow";
}

TEST(SizeClasses, OnlyWhatBeatsWhatRunsThereNowWins) {
  const std::vector<SizedCase> cases = {Sized("a", 8, 64), Sized("b", 8, 256), Sized("c", 8, 4096)};
  EXPECT_EQ(GuardOf(cases, {1.5, 0.5, 1.5}), "none");
  EXPECT_EQ(GuardOf(cases, {1.5, 0.5, 1.5}, {{"c", 2.0}}), "n <= 64");
}

TEST(SizeClasses, ACaseThatWasNotMeasuredLeavesAllOpen) {
  const std::vector<SizedCase> cases = {Sized("a", 8, 64), Sized("b", 8, 256)};
  EXPECT_FALSE(FindSizeClass(cases, {Reached("a", 0.5)}, {}));
  EXPECT_FALSE(FindSizeClass(cases, SpeedupsOf({records::LeftToOriginal("a")}), {}));
}

TEST(SizeClasses, TheLesserOfColdAndWarmMayNotLose) {
  records::CaseResult cold, warm;
  cold.name = warm.name = "a";
  cold.speedup = 1.5;
  cold.interval = {1.4, 1.6};
  warm.speedup = 0.9;
  warm.interval = {0.8, 1.0};
  const CaseSpeedup both{"a", 1.5, 1.4, 0.9, true};
  EXPECT_THAT(SpeedupsOf({cold, warm}), ElementsAre(both));
  EXPECT_THAT(SpeedupsOf({warm, cold}), ElementsAre(both));
  const auto found =
      FindSizeClass({Sized("a", 8, 64), Sized("b", 8, 256)}, {both, Reached("b", 2)}, {});
  ASSERT_TRUE(found) << "it counts as a loss";
  EXPECT_EQ(found->guard, "n >= 256");
}

TEST(SizeClasses, GainsAreWeightedOverAllCases) {
  std::vector<SizedCase> cases = {Sized("a", 8, 64), Sized("b", 8, 4096)};
  cases[1].weight = 3;
  const std::vector<CaseSpeedup> speedups = {Reached("a", 0.5), Reached("b", 2)};
  const auto found = FindSizeClass(cases, speedups, {});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->cases, UnorderedElementsAre("b"));
  EXPECT_NEAR(GainOf(cases, *found, speedups, {}), 4 / 2.5, 1e-12);
  EXPECT_NEAR(GainOf(cases, *found, speedups, {{"a", 4.0}}), 4 / 1.75, 1e-12);
  EXPECT_NEAR(GainOf(cases, {{"b", 1.5}}), 4 / 3.0, 1e-12);
}

TEST(SizeClasses, SizesAreTheIntegerScalarsAndTheGeometry) {
  records::Kernel kernel;
  kernel.parameters.resize(3);
  kernel.parameters[0].name = "in";
  kernel.parameters[0].kind = records::ParameterKind::kPointer;
  kernel.parameters[1].kind = records::ParameterKind::kInteger;
  kernel.parameters[2].name = "n";
  kernel.parameters[2].kind = records::ParameterKind::kInteger;
  records::Case one;
  one.name = "only";
  one.weight = 3;
  one.arguments.resize(3);
  one.arguments[1].value = "7";
  one.arguments[2].name = "n";
  one.arguments[2].value = "64";
  one.grid = {"ceil_div(n, 32)", "1", "1"};
  one.block = {"32", "1", "1"};
  records::Workload workload;
  workload.cases = {one};
  const auto cases = SizedCasesOf(kernel, workload);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].name, "only");
  EXPECT_EQ(cases[0].weight, 3);
  EXPECT_THAT(std::vector(cases[0].sizes.begin(), cases[0].sizes.begin() + 3),
              ElementsAre(Pair("$1", 7), Pair("n", 64), Pair("grid_x", 2)));
}

}  // namespace
}  // namespace cupilot::search
