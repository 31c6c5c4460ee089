// Spaces are solved: their sizes are those that others have counted, what is drawn is uniform, and
// neighbours are valid.
#include "search/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/file.h"
#include "search/space_json.h"

namespace cupilot::search {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

SpaceParameter Numbers(const std::string& name, std::vector<std::int64_t> values,
                       const std::string& when = "") {
  SpaceParameter parameter;
  parameter.name = name;
  parameter.standard = values.empty() ? 0 : values.front();
  parameter.values = std::move(values);
  parameter.when = when;
  return parameter;
}

Space Make(std::vector<SpaceParameter> parameters, std::vector<std::string> require) {
  auto space = Space::Make(std::move(parameters), std::move(require), {});
  EXPECT_TRUE(space) << space.error().message;
  return std::move(*space);
}

std::string WhyNot(std::vector<SpaceParameter> parameters, std::vector<std::string> require,
                   const Space::Limits& limits = {}) {
  const auto space = Space::Make(std::move(parameters), std::move(require), {}, limits);
  EXPECT_FALSE(space);
  return space ? "" : space.error().message;
}

class PublishedSpaceTest : public ::testing::TestWithParam<std::pair<const char*, std::uint64_t>> {
};

TEST_P(PublishedSpaceTest, HasAsManyValidPointsAsOthersHaveCounted) {
  const auto text = base::ReadFile(std::string(CUPILOT_SOURCE_FOLDER) + "/tests/data/spaces/" +
                                   GetParam().first + ".space.json");
  ASSERT_TRUE(text);
  const auto json = records::ParseJson(*text);
  ASSERT_TRUE(json);
  const auto file = ParseSpaceFile(*json);
  ASSERT_TRUE(file) << file.error().message;
  const auto space = SpaceOf(*file);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->size(), GetParam().second);
  // As a file and back.
  const auto again = ParseSpaceFile(ToJson(*file));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ToJson(*again), ToJson(*file));
}

// Counts: Schoonhoven, van Werkhoven, Batenburg (benchmark hub: gemm, convolution, hotspot,
// dedispersion), Torring and others (BAT: pnpoly, nbody, hotspot with blocks), Kernel Tuner's
// example (reduction), Kernel Tuning Toolkit's (transpose).
INSTANTIATE_TEST_SUITE_P(
    Counts, PublishedSpaceTest,
    ::testing::Values(std::pair("gemm", 116928u), std::pair("convolution", 4362u),
                      std::pair("hotspot", 82984u), std::pair("hotspot_blocks", 349853u),
                      std::pair("dedispersion", 11130u), std::pair("pnpoly", 4092u),
                      std::pair("nbody", 1568u), std::pair("reduction", 2376u),
                      std::pair("transpose", 1836u)),
    [](const auto& name) { return std::string(name.param.first); });

TEST(Space, HoldsExactlyWhatItsConstraintsLeave) {
  const std::vector<std::int64_t> values = {1, 2, 3, 5, 8, 13};
  const Space space =
      Make({Numbers("a", values), Numbers("b", values), Numbers("c", {0, 1}), Numbers("d", values)},
           {"a * b <= 24", "c == 0 || a % 2 == 1", "d != 3"});
  std::set<Point> expected;
  for (std::uint16_t a = 0; a < 6; ++a) {
    for (std::uint16_t b = 0; b < 6; ++b) {
      for (std::uint16_t c = 0; c < 2; ++c) {
        for (std::uint16_t d = 0; d < 6; ++d) {
          const bool valid =
              values[a] * values[b] <= 24 && (c == 0 || values[a] % 2 == 1) && d != 2;
          const Point point = {a, b, c, d};
          EXPECT_EQ(space.IsValid(point), valid) << space.TextOf(point);
          if (valid) expected.insert(point);
        }
      }
    }
  }
  EXPECT_EQ(space.size(), expected.size());
  std::set<Point> numbered;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const Point point = space.At(i);
    EXPECT_EQ(space.NumberOf(point), i);
    numbered.insert(point);
  }
  EXPECT_EQ(numbered, expected);
  EXPECT_EQ(space.groups().size(), 2u) << "d is tied to none";
  EXPECT_EQ(space.cartesian_size(), 6 * 6 * 2 * 6);
}

TEST(Space, DrawsUniformlyOverValidPoints) {
  // Of a's values one leaves a hundred times what the others do.
  std::vector<std::int64_t> many(100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i);
  const Space space = Make({Numbers("a", {0, 1, 2}), Numbers("b", many)}, {"a == 1 || b == 0"});
  ASSERT_EQ(space.size(), 102u);
  std::mt19937_64 random(1);
  std::map<Point, int> drawn;
  constexpr int kDraws = 102 * 200;
  for (int i = 0; i < kDraws; ++i) ++drawn[space.Draw(random)];
  double chi = 0;
  for (const auto& [point, count] : drawn) chi += (count - 200.0) * (count - 200.0) / 200.0;
  EXPECT_EQ(drawn.size(), 102u);
  EXPECT_LT(chi, 101 + 5 * std::sqrt(2 * 101.0));
}

TEST(Space, NeighboursAreValidAndDifferInOneParameter) {
  SpaceParameter mode = Numbers("mode", {0, 1, 2});
  mode.kind = ParameterKind::kCategory;
  const Space space = Make({Numbers("a", {1, 2, 3, 4, 5}), Numbers("b", {1, 2, 3, 4, 5}), mode},
                           {"a * b != 6", "a + b <= 7"});
  // a = 2, b = 2
  const Point here = {1, 1, 0};
  const auto texts = [&](bool adjacent) {
    std::vector<std::string> all;
    for (const Point& point : space.Neighbours(here, adjacent)) {
      EXPECT_TRUE(space.IsValid(point));
      all.push_back(space.TextOf(point));
    }
    return all;
  };
  // 2 * 3 is 6: the next valid ones are 4.
  EXPECT_THAT(texts(true),
              UnorderedElementsAre("a=1 b=2 mode=0", "a=4 b=2 mode=0", "a=2 b=1 mode=0",
                                   "a=2 b=4 mode=0", "a=2 b=2 mode=1", "a=2 b=2 mode=2"));
  EXPECT_THAT(
      texts(false),
      UnorderedElementsAre("a=1 b=2 mode=0", "a=4 b=2 mode=0", "a=5 b=2 mode=0", "a=2 b=1 mode=0",
                           "a=2 b=4 mode=0", "a=2 b=5 mode=0", "a=2 b=2 mode=1", "a=2 b=2 mode=2"));
}

TEST(Space, AParameterThatDoesNotExistHasOneValue) {
  const Space space =
      Make({Numbers("staged", {0, 1}), Numbers("padding", {0, 1, 2, 3}, "staged")}, {});
  EXPECT_EQ(space.size(), 1u + 4u);
  EXPECT_TRUE(space.IsValid({0, 0}));
  EXPECT_FALSE(space.IsValid({0, 2}));
  EXPECT_TRUE(space.IsValid({1, 2}));
}

TEST(Space, WhatIsNotValidHasAValidPointNearIt) {
  const Space space =
      Make({Numbers("a", {1, 2, 4, 8, 16}), Numbers("b", {1, 2, 4, 8, 16})}, {"a * b == 16"});
  EXPECT_EQ(space.TextOf(space.Nearest({2, 2})), "a=4 b=4");
  EXPECT_TRUE(space.IsValid(space.Nearest({4, 4})));
}

TEST(Space, LargerThanAnyNumberItCanStillBeDrawnFrom) {
  std::vector<SpaceParameter> parameters;
  std::vector<std::string> require;
  for (int i = 0; i < 40; ++i) {
    const std::string a = "a" + std::to_string(i), b = "b" + std::to_string(i);
    parameters.push_back(Numbers(a, {1, 2, 3, 4}));
    parameters.push_back(Numbers(b, {1, 2, 3, 4}));
    require.push_back(a + " <= " + b);
  }
  const Space space = Make(std::move(parameters), std::move(require));
  EXPECT_EQ(space.size(), std::uint64_t{1} << 63);
  std::mt19937_64 random(2);
  const Point point = space.Draw(random);
  EXPECT_TRUE(space.IsValid(point));
  for (const Point& near : space.Neighbours(point, true)) EXPECT_TRUE(space.IsValid(near));
}

TEST(Space, ConstantsOfTheLaunchAreKnownToConstraints) {
  records::Environment constants;
  constants.integers["n"] = 96;
  constants.floats["alpha"] = 0.5;
  const auto space = Space::Make({Numbers("b", {16, 32, 48, 64})},
                                 {"n % b == 0", "alpha < 1 && b >= 32"}, constants);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->size(), 2u);
}

TEST(Space, WhatCannotBeSolvedIsSaid) {
  EXPECT_THAT(WhyNot({Numbers("a", {1}), Numbers("a", {1})}, {}), HasSubstr("two of this name"));
  EXPECT_THAT(WhyNot({Numbers("a", {})}, {}), HasSubstr("no values"));
  EXPECT_THAT(WhyNot({Numbers("a", {1, 2, 1})}, {}), HasSubstr("'a': it has a value twice"));
  SpaceParameter other = Numbers("a", {1, 2});
  other.standard = 3;
  EXPECT_THAT(WhyNot({other}, {}), HasSubstr("3, its standard value, is none"));
  EXPECT_THAT(WhyNot({Numbers("a", {1, 2})}, {"a <"}), HasSubstr("constraint 'a <'"));
  EXPECT_THAT(WhyNot({Numbers("a", {1, 2})}, {"a < b"}), HasSubstr("unknown name 'b'"));
  EXPECT_THAT(WhyNot({Numbers("a", {1, 2})}, {"1 > 2"}), HasSubstr("never holds"));
  EXPECT_THAT(WhyNot({Numbers("a", {1, 2}), Numbers("b", {1, 2})}, {"a <= b", "a + b > 4"}),
              HasSubstr("nothing fulfils 'a + b > 4'"));
  std::vector<std::int64_t> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i);
  EXPECT_THAT(WhyNot({Numbers("a", many), Numbers("b", many)}, {"a != b"}, {.nodes = 1000}),
              HasSubstr("more than 1000 choices are valid"));
  EXPECT_THAT(WhyNot({Numbers("a", many), Numbers("b", many)}, {"a * b == 7"}, {.tries = 1000}),
              HasSubstr("more than 1000 choices had to be tried"));
}

// Written as one text they are asked as early as if each had its own, and tie no more together.
TEST(Space, OperandsOfAConjunctionAreConstraintsOfTheirOwn) {
  std::vector<SpaceParameter> parameters;
  std::string equal, pairs;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "t" + std::to_string(i);
    parameters.push_back(Numbers(name, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    if (i > 0) equal += (i > 1 ? " && t" : "t") + std::to_string(i - 1) + " == " + name;
    if (i % 2 == 1) pairs += (i > 1 ? " && t" : "t") + std::to_string(i - 1) + " <= " + name;
  }
  const auto chained = Space::Make(parameters, {equal}, {}, {.tries = 10 + 7 * 100});
  ASSERT_TRUE(chained) << chained.error().message;
  EXPECT_EQ(chained->size(), 10u);
  const auto paired = Space::Make(parameters, {pairs}, {});
  ASSERT_TRUE(paired) << paired.error().message;
  EXPECT_EQ(paired->groups().size(), 4u);
  EXPECT_EQ(paired->size(), 55u * 55 * 55 * 55);
}

// A loop that is blocked stands twice in the string.
TEST(Space, AnOrderMaySayTheBlockingOfLoops) {
  const auto of = [](const records::Json& blocks) {
    return ParseSpaceFile(
        {{"schema", "cupilot.space/1"},
         {"parameters",
          {{{"name", "loops"}, {"kind", "order"}, {"of", {"i", "k"}}, {"blocks", blocks}}}}});
  };
  const auto parsed = of({{"k", 2}});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->parameters[0].texts, ElementsAre("ik", "ki", "ikk", "kik", "kki"));
  const auto again = ParseSpaceFile(ToJson(*parsed));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->parameters[0].texts, parsed->parameters[0].texts);
  EXPECT_EQ(of({{"i", 2}, {"k", 2}})->parameters[0].texts.size(), 2u + 3u + 3u + 6u);
  const auto unknown = of({{"j", 2}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("parameters[0].blocks.j: how often"));
  const auto many = of({{"i", 7}, {"k", 7}});
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().message, HasSubstr("parameters[0].blocks: more than 5040 orders"));
}

TEST(Space, OrdersAndNamesAreWrittenAsTexts) {
  const auto parsed =
      ParseSpaceFile({{"schema", "cupilot.space/1"},
                      {"parameters",
                       {{{"name", "order"}, {"kind", "order"}, {"of", {"i", "j", "k"}}},
                        {{"name", "load"}, {"values", {"plain", "ldg"}}, {"standard", "ldg"}},
                        {{"name", "fast"}, {"kind", "boolean"}}}},
                      {"require", {"load == 0 || fast == 1"}}});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->parameters[0].texts, ElementsAre("ijk", "ikj", "jik", "jki", "kij", "kji"));
  EXPECT_EQ(parsed->parameters[1].standard, 1);
  const auto space = SpaceOf(*parsed);
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), 6u * 3u);
  EXPECT_EQ(space->TextOf({4, 1, 1}), "order=kij load=ldg fast=1");
  const auto bad = ParseSpaceFile(
      {{"schema", "cupilot.space/1"}, {"parameters", {{{"name", "a"}, {"kind", "gauss"}}}}});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("parameters[0].kind: unknown kind 'gauss'"));
  const auto misspelt = ParseSpaceFile(
      {{"schema", "cupilot.space/1"}, {"parameters", {{{"name", "a"}, {"valeus", {1, 2}}}}}});
  ASSERT_FALSE(misspelt);
  EXPECT_THAT(misspelt.error().message, HasSubstr("parameters[0].valeus: unknown key"));
}

}  // namespace
}  // namespace cupilot::search
