#include "tests/bench/search/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "search/kernel_search.h"
#include "tests/bench/search/arms.h"

namespace cupilot::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Curve CurveOfBest(std::vector<double> best) { return {"blur", "evolution", std::move(best)}; }

TEST(BestSoFar, IsReadFromTheRecordOfASearch) {
  search::SearchInput input;
  input.kernel = "blur";
  search::Opinion opinion;
  opinion.technique = "block_size";
  opinion.applies = true;
  for (const int x : {64, 128, 256, 512, 1024}) opinion.parameters.push_back({{"x", x}, {"y", 1}});
  input.opinions = {opinion};
  search::KernelSearch search(input);
  const auto report = [&](search::Outcome::Kind kind, double speedup, const char* same = "") {
    search::Outcome outcome;
    outcome.kind = kind;
    outcome.speedup = speedup;
    outcome.same_code = same;
    search.Report(search.Next()->id, outcome);
  };
  report(search::Outcome::Kind::kAccepted, 1.5);
  report(search::Outcome::Kind::kDeclined, 9);
  report(search::Outcome::Kind::kRejected, 3);  // fast, but wrong
  report(search::Outcome::Kind::kAccepted, 1.2);
  report(search::Outcome::Kind::kAccepted, 7, "another");
  report(search::Outcome::Kind::kAccepted, 2);
  const auto curve = CurveOf(search.ToJson());
  ASSERT_TRUE(curve.has_value()) << curve.error().message;
  EXPECT_EQ(curve->kernel, "blur");
  EXPECT_THAT(curve->best, ElementsAre(1.5, 1.5, 1.5, 2));
}

TEST(BestSoFar, ADamagedRecordIsAnError) {
  EXPECT_FALSE(CurveOf(records::Json::array()).has_value());
  EXPECT_FALSE(CurveOf({{"schema", "cupilot.other/1"}}).has_value());
  EXPECT_FALSE(CurveOf({{"schema", "cupilot.search/1"}, {"events", {-1}}}).has_value());
}

TEST(BestSoFar, AreaIsTheMeanLogarithmAndACurveThatEndedStays) {
  const Curve curve = CurveOfBest({1, 2});
  EXPECT_NEAR(AreaUnder(curve, 4), 3 * std::log(2) / 4, 1e-12);
  EXPECT_EQ(AreaUnder(CurveOfBest({}), 4), 0);
  EXPECT_GT(AreaUnder(CurveOfBest({2, 2}), 4), AreaUnder(curve, 4)) << "earlier is more";
}

TEST(BestSoFar, CsvHasARowForEachEvaluation) {
  EXPECT_EQ(Csv({CurveOfBest({1, 1.25})}),
            "kernel,arm,evaluation,best\nblur,evolution,1,1\nblur,evolution,2,1.25\n");
}

TEST(BestSoFar, TheTableHasTheArmsInTheirOrder) {
  const std::string table = AreaTable({CurveOfBest({1, 4})}, {"numbers", "evolution"}, 2);
  EXPECT_THAT(table, HasSubstr("evolution    mean 0.693, best 4.00x:  blur 0.693 (4.00x)"));
  EXPECT_EQ(table.find("numbers"), std::string::npos) << "it was not recorded";
}

TEST(BestSoFar, ThePictureNamesEachArm) {
  const std::string svg = Svg({CurveOfBest({1, 2}), CurveOfBest({})}, "a<b>");
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;"));
  EXPECT_THAT(svg, HasSubstr("evolution 2.00x"));
  EXPECT_THAT(svg, HasSubstr("evolution 1.00x"));
}

TEST(Arms, DifferByOneSwitchEach) {
  const service::SearchParts whole = PartsOf(*FindArm("evolution"));
  EXPECT_TRUE(whole.techniques && whole.strategies && whole.roofline && whole.pool && whole.tree);
  EXPECT_FALSE(PartsOf(*FindArm("code")).strategies);
  EXPECT_FALSE(PartsOf(*FindArm("no_roofline")).roofline);
  EXPECT_FALSE(PartsOf(*FindArm("no_pool")).pool);
  EXPECT_FALSE(PartsOf(*FindArm("no_tree")).tree);
  EXPECT_FALSE(FindArm("mechanical")->models);
  EXPECT_FALSE(FindArm("numbers")->techniques);
  EXPECT_EQ(FindArm("nothing"), nullptr);
}

}  // namespace
}  // namespace cupilot::bench
