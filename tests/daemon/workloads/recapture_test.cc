// A program that is captured again: noise of its times is told from another distribution.
#include "workloads/recapture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::workloads {
namespace {

using ::testing::ElementsAre;

records::Case MakeCase(const std::string& name, const std::string& blob, double weight) {
  records::Case one;
  one.name = name;
  one.weight = weight;
  one.grid = {name == "small" ? "1" : "64", "1", "1"};
  one.block = {"64", "1", "1"};
  records::Argument in;
  in.name = "in";
  in.type = "const float*";
  in.count = "256";
  in.fill.emplace();
  in.fill->kind = "file";
  in.fill->path = "blob:" + blob;
  one.arguments = {in};
  return one;
}

Captured MakeCaptured(double small, double large) {
  Captured captured;
  captured.kernel = "k";
  captured.file = "/p/k.cu";
  captured.device = "cuda";
  captured.cases = {MakeCase("small", "a", small), MakeCase("large", "b", large)};
  captured.launches = {{"small", {1, 1, 1}, {64, 1, 1}, 0, 3, small, {"small"}},
                       {"large", {64, 1, 1}, {64, 1, 1}, 0, 3, large, {"large"}}};
  captured.after = {{"small", {{"out", "c"}}}, {"large", {{"out", "d"}}}};
  return captured;
}

std::vector<double> Weights(const Captured& captured) {
  std::vector<double> weights;
  for (const records::Case& one : captured.cases) weights.push_back(one.weight);
  return weights;
}

TEST(Recapture, WeightsThatDifferByNoiseAreTheEarlierOnes) {
  Captured earlier = MakeCaptured(300, 700);
  earlier.replays["text"]["small"] = {.times = 100, .wanted = 100};
  // 30 % of the time became 34.8 %, in a program that now runs for twice as long.
  Captured later = MakeCaptured(2 * 348, 2 * 652);
  later.date = "later";
  EXPECT_TRUE(TakeSameCases(earlier, later));
  EXPECT_EQ(later.cases, earlier.cases);
  EXPECT_EQ(later.date, "later");
  EXPECT_EQ(later.Microseconds(), 2000) << "what is shown is the later program's";
  EXPECT_EQ(later.FindReplay("text", "small")->times, 100);
}

TEST(Recapture, AnotherDistributionWeighsAnew) {
  const Captured earlier = MakeCaptured(300, 700);
  Captured later = MakeCaptured(352, 648);
  EXPECT_FALSE(TakeSameCases(earlier, later));
  EXPECT_THAT(Weights(later), ElementsAre(352, 648));
}

TEST(Recapture, OtherLaunchesAreOthers) {
  const Captured earlier = MakeCaptured(300, 700);
  Captured contents = MakeCaptured(300, 700);
  contents.cases[0].arguments[0].fill->path = "blob:e";
  EXPECT_FALSE(TakeSameCases(earlier, contents));
  Captured geometry = MakeCaptured(300, 700);
  geometry.cases[1].grid[0] = "65";
  EXPECT_FALSE(TakeSameCases(earlier, geometry));
  Captured fewer = MakeCaptured(300, 700);
  fewer.cases.pop_back();
  EXPECT_FALSE(TakeSameCases(earlier, fewer));
  Captured elsewhere = MakeCaptured(300, 700);
  elsewhere.device = "host";
  EXPECT_FALSE(TakeSameCases(earlier, elsewhere));
}

// The heaviest is first, and names that would be equal are numbered in that order.
TEST(Recapture, CasesThatChangedTheirPlacesKeepTheirNames) {
  Captured earlier = MakeCaptured(500, 500);
  earlier.cases[0].name = earlier.launches[0].name = "grid";
  earlier.cases[1].name = earlier.launches[1].name = "grid (2)";
  earlier.launches[0].cases = {"grid"};
  earlier.launches[1].cases = {"grid (2)"};
  earlier.after = {{"grid", {{"out", "c"}}}, {"grid (2)", {{"out", "d"}}}};
  earlier.fits = {{"grid", {{"in", {"a", {}, {}}}}}, {"grid (2)", {{"in", {"b", {}, {}}}}}};
  Captured later = earlier;
  std::swap(later.cases[0].arguments, later.cases[1].arguments);
  std::swap(later.cases[0].grid, later.cases[1].grid);
  std::swap(later.after["grid"], later.after["grid (2)"]);
  std::swap(later.fits["grid"], later.fits["grid (2)"]);
  EXPECT_TRUE(TakeSameCases(earlier, later));
  EXPECT_EQ(later.cases, earlier.cases);
  EXPECT_EQ(later.after, earlier.after);
  EXPECT_EQ(later.fits, earlier.fits);
  EXPECT_EQ(later.launches[0].name, "grid (2)");
  EXPECT_THAT(later.launches[0].cases, ElementsAre("grid (2)"));
}

TEST(Recapture, AnotherResultThanThatOfEachReplayIsAnotherLaunch) {
  Captured earlier = MakeCaptured(300, 700);
  Captured later = MakeCaptured(300, 700);
  later.after["small"]["out"] = "z";
  Captured unknown = later;
  EXPECT_TRUE(TakeSameCases(earlier, unknown)) << "it was not replayed";
  earlier.replays["text"]["small"] = {.times = 100, .wanted = 100};
  Captured other = later;
  EXPECT_FALSE(TakeSameCases(earlier, other));
  // One that never was reproducible is as it was. What could not be replayed is tried again.
  earlier.replays["text"]["small"] = {.times = 3, .reason = "run 4 differs"};
  earlier.replays["text"]["large"] = {.reason = "it cannot be replayed", .failed = true};
  EXPECT_TRUE(TakeSameCases(earlier, later));
  EXPECT_EQ(later.WhyUnused("text", "small"), "run 4 differs");
  EXPECT_EQ(later.FindReplay("text", "large"), nullptr);
}

}  // namespace
}  // namespace cupilot::workloads
