// Measured spaces as files, and that what is wrong in one names its row.
#include "search/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/search/measured_spaces.h"

namespace cupilot::search {
namespace {

using ::testing::HasSubstr;

// A file with these rows and, of the space, this besides its parameters.
std::string FileOf(const std::string& rows, const std::string& more = "") {
  return R"({"schema": "cupilot.measured/1", "name": "k", "device": "d",
    "space": {"schema": "cupilot.space/1", "require": ["bx <= 64"], "parameters": [
      {"name": "bx", "values": [32, 64, 128]},
      {"name": "order", "kind": "order", "of": ["i", "j"]}]})" +
         more + R"(, "rows": [)" + rows + "]}";
}

std::string WhyNot(const std::string& text) {
  const auto measured = ParseMeasured(text);
  EXPECT_FALSE(measured) << text;
  return measured ? "" : measured.error().message;
}

TEST(Measured, IsReadAndWritten) {
  const auto measured = ParseMeasured(
      FileOf(R"({"at": [64, "ji"], "us": 12.5, "samples": 32, "compile_s": 2.5, "measure_s": 0.25},
                {"at": [32, "ij"], "reason": "compile", "compile_s": 0.5})"));
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->name(), "k");
  EXPECT_EQ(measured->device(), "d");
  EXPECT_EQ(measured->space().size(), 4u);
  EXPECT_FALSE(measured->complete());
  const MeasuredRow* row = measured->Find({1, 1});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->microseconds, 12.5);
  EXPECT_EQ(row->samples, 32);
  EXPECT_EQ(row->seconds(), 2.75);
  row = measured->Find({0, 0});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->microseconds, std::nullopt);
  EXPECT_EQ(row->reason, "compile");
  EXPECT_EQ(measured->Find({0, 1}), nullptr);

  const std::string text = TextOf(*measured);
  EXPECT_THAT(text, HasSubstr("\n{\"at\":[64,\"ji\"],"));
  const auto again = ParseMeasured(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(TextOf(*again), text);
}

TEST(Measured, SamplesAndWhatTheCompilerSaidAreKept) {
  const auto measured = ParseMeasured(FileOf(
      R"({"at": [64, "ji"], "us": 12.5, "times": [12, 13], "registers": 40, "local_bytes": 8,
          "shared_bytes": 4096}, {"at": [32, "ij"], "us": 3, "samples": 5})",
      R"(, "architecture": "sm_90", "multiprocessors": 132)"));
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->architecture(), "sm_90");
  EXPECT_EQ(measured->multiprocessors(), 132);
  const auto again = ParseMeasured(TextOf(*measured));
  ASSERT_TRUE(again) << again.error().message;
  const auto part = MeasuredPart(*again);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->architecture(), "sm_90");
  EXPECT_EQ(part->multiprocessors(), 132);
  const MeasuredRow* row = part->Find({1, 1});
  ASSERT_NE(row, nullptr);
  EXPECT_THAT(row->times, ::testing::ElementsAre(12, 13));
  EXPECT_EQ(row->samples, 2);
  EXPECT_EQ(row->registers, 40);
  EXPECT_EQ(row->local_bytes, 8);
  EXPECT_EQ(row->shared_bytes, 4096);
  row = part->Find({0, 0});
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(row->times.empty());
  EXPECT_EQ(row->samples, 5);
}

TEST(Measured, ChampionsOfAnotherDeviceByNameAndNearestValue) {
  const auto of = [](std::vector<std::int64_t> block, std::vector<std::int64_t> tile) {
    return Space::Make(
        {NumberParameter("block", std::move(block)), NumberParameter("tile", std::move(tile))}, {},
        {});
  };
  const auto elsewhere = ParseMeasured(R"({"schema": "cupilot.measured/1", "name": "k",
    "device": "another", "space": {"schema": "cupilot.space/1", "parameters": [
      {"name": "tile", "kind": "number", "values": [1, 7]},
      {"name": "block", "kind": "number", "values": [32, 96]}], "require": []},
    "rows": [{"at": [1, 32], "us": 3, "samples": 1}, {"at": [7, 96], "us": 2, "samples": 1},
             {"at": [7, 32], "reason": "compile"}, {"at": [1, 96], "us": 4, "samples": 1}]})");
  ASSERT_TRUE(elsewhere) << elsewhere.error().message;
  const auto space = of({32, 64, 90}, {1, 2, 8});
  EXPECT_THAT(ChampionsFor(*space, *elsewhere, 2),
              ::testing::ElementsAre(Point{2, 2}, Point{0, 0}));
  const auto other = Space::Make({NumberParameter("unroll", {1, 2})}, {}, {});
  EXPECT_TRUE(ChampionsFor(*other, *elsewhere, 2).empty());
}

TEST(Measured, WhatIsWrongNamesItsRow) {
  const std::string good = R"({"at": [32, "ij"], "us": 1}, )";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"at": [48, "ij"], "us": 1})", "rows[1].at[0]: 48 is no value of bx"},
      {R"({"at": [32, "ik"], "us": 1})", "rows[1].at[1]: \"ik\" is no value of order"},
      {R"({"at": [128, "ij"], "us": 1})", "rows[1]: this point is not valid"},
      {R"({"at": [32], "us": 1})", "rows[1].at: 1 values for 2 parameters"},
      {R"({"at": [32, "ij"], "us": 2})", "rows[1]: the same point as rows[0]"},
      {R"({"at": [64, "ij"], "us": 0})", "rows[1]: the time is not positive"},
      {R"({"at": [64, "ij"]})", "rows[1]: has neither a time"},
      {R"({"at": [64, "ij"], "us": 1, "reason": "x"})", "rows[1]: has both"},
      {R"({"at": [64, "ij"], "us": 1, "samples": -1})", "rows[1]: samples"},
      {R"({"at": [64, "ij"], "us": 1, "compile_s": -1})", "rows[1]: compile_s"},
      {R"({"at": [64, "ij"], "us": 1, "samples": 3, "times": [1, 1]})", "rows[1]: times"},
      {R"({"at": [64, "ij"], "us": 1, "registers": -1})", "rows[1]: registers"},
      {R"({"at": [64, "ij"], "ms": 1})", "rows[1].ms"},
      {R"({"us": 1})", "rows[1].at: missing"}};
  for (const auto& [row, message] : cases) {
    EXPECT_THAT(WhyNot(FileOf(good + row)), HasSubstr(message)) << row;
  }
  EXPECT_THAT(WhyNot(FileOf(good + good, "\"")), HasSubstr("line"));
  EXPECT_THAT(WhyNot(FileOf("", R"(, "valid": "some")")), HasSubstr("valid: unknown value"));
}

TEST(Measured, ValidCanBeTheRowsAlone) {
  const auto measured = ParseMeasured(FileOf(
      R"({"at": [128, "ij"], "us": 3}, {"at": [32, "ij"], "us": 2}, {"at": [32, "ji"], "us": 1})",
      R"(, "valid": "rows")"));
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->space().size(), 3u);
  EXPECT_TRUE(measured->complete());
  EXPECT_TRUE(measured->space().IsValid({2, 0}));
  EXPECT_FALSE(measured->space().IsValid({1, 0}));
  const auto again = ParseMeasured(TextOf(*measured));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->space().size(), 3u);
}

// The same answers as a solved space that has the same points.
TEST(Measured, ListedPointsAreASpaceLikeASolvedOne) {
  const MeasuredSpace landscape = LandscapeOf(7);
  const Space& solved = landscape.space();
  std::vector<Point> points;
  for (const MeasuredRow& row : landscape.rows()) points.push_back(row.point);
  points.push_back(points.front());
  const auto listed = Space::OfPoints(solved.parameters(), points);
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), solved.size());
  for (std::uint64_t number = 0; number < listed->size(); ++number) {
    const Point point = listed->At(number);
    EXPECT_TRUE(solved.IsValid(point));
    EXPECT_EQ(listed->NumberOf(point), number);
    EXPECT_THAT(listed->Neighbours(point, true),
                ::testing::UnorderedElementsAreArray(solved.Neighbours(point, true)));
  }
  std::mt19937_64 random(1);
  EXPECT_TRUE(solved.IsValid(listed->Draw(random)));
  EXPECT_FALSE(Space::OfPoints(solved.parameters(), {}));
  EXPECT_FALSE(Space::OfPoints(solved.parameters(), {{0, 0, 0}}));
  EXPECT_FALSE(Space::OfPoints(solved.parameters(), {{0, 0, 0, 6}}));
}

}  // namespace
}  // namespace cupilot::search
