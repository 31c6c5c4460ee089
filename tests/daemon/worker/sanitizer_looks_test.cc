// What follows from what compute-sanitizer's tools say, and from their saying nothing.
#include "worker/sanitizer_looks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Each tool's answers, the last of them again and again; a tool without any finds nothing.
class Scripted {
 public:
  std::map<std::string, std::vector<SanitizedRun>> answers;
  std::vector<std::pair<std::size_t, milliseconds>> asked;  // how many tools at once, for how long

  RunSanitizers Runs() {
    return [this](const std::vector<const SanitizerTool*>& tools, milliseconds limit) {
      asked.emplace_back(tools.size(), limit);
      std::vector<SanitizedRun> runs;
      for (const SanitizerTool* tool : tools) {
        SanitizedRun run;
        auto& script = answers[tool->name];
        if (!script.empty()) run = script.front();
        if (script.size() > 1) script.erase(script.begin());
        run.tool = tool;
        runs.push_back(run);
      }
      return runs;
    };
  }
};

SanitizedRun Says(const std::string& error) { return {nullptr, error, "", false}; }
SanitizedRun Late() { return {nullptr, "", "it did not end within 1 ms", true}; }
SanitizedRun Fails(const std::string& why) { return {nullptr, "", why, false}; }

class SanitizerLooksTest : public ::testing::Test {
 protected:
  SanitizerLook Look(bool small = true, const std::vector<std::string>& lacks = {}) {
    return LookWithSanitizers("odd", small, lacks, candidate_.Runs(), original_.Runs());
  }
  Scripted candidate_, original_;
};

TEST_F(SanitizerLooksTest, WhereNothingIsFoundOnlyTheCandidateRuns) {
  const SanitizerLook look = Look();
  EXPECT_EQ(look.finding.reason, "");
  EXPECT_TRUE(look.whole);
  ASSERT_EQ(look.notes.size(), 1u);
  EXPECT_THAT(look.notes[0],
              HasSubstr("nothing found by memcheck, racecheck, initcheck, synccheck"));
  EXPECT_EQ(candidate_.asked.size(), 1u);
  EXPECT_THAT(original_.asked, IsEmpty());
}

TEST_F(SanitizerLooksTest, WhatCannotFindAnythingIsNotAsked) {
  for (const char* tool : {"racecheck", "synccheck"}) candidate_.answers[tool] = {Says("Error")};
  const SanitizerLook look = Look(true, {"shared_memory", "synchronisation"});
  EXPECT_EQ(look.finding.reason, "");
  EXPECT_TRUE(look.whole);
  EXPECT_THAT(look.notes,
              ElementsAre(HasSubstr("racecheck: nothing to find: the code has no shared memory"),
                          HasSubstr("synccheck: nothing to find: the code has no synchronisation"),
                          HasSubstr("nothing found by memcheck, initcheck")));
  ASSERT_EQ(candidate_.asked.size(), 1u);
  EXPECT_EQ(candidate_.asked[0].first, 2u);
  EXPECT_THAT(Look(true, {"synchronisation"}).finding.detail, HasSubstr("racecheck"));
  EXPECT_THAT(Look(true, {"shared_memory"}).finding.detail, HasSubstr("synccheck"));
}

TEST_F(SanitizerLooksTest, AnErrorCountsThatTheOriginalDoesNotHave) {
  candidate_.answers["synccheck"] = {Says("Barrier error detected")};
  EXPECT_EQ(Look().finding.reason, "race");
  EXPECT_THAT(Look().finding.detail, HasSubstr("synccheck: Barrier error detected (case 'odd')"));
  original_.answers["synccheck"] = {Says("Barrier error detected")};
  EXPECT_EQ(Look().finding.reason, "");
}

// On a busy machine; the second answer may find something.
TEST_F(SanitizerLooksTest, AToolThatWasNotWaitedForIsAskedAgainAloneAndLonger) {
  candidate_.answers["synccheck"] = {Late(), Says("Barrier error detected")};
  EXPECT_EQ(Look().finding.reason, "race");
  ASSERT_EQ(candidate_.asked.size(), 2u);
  EXPECT_EQ(candidate_.asked[1].first, 1u);
  EXPECT_GT(candidate_.asked[1].second, candidate_.asked[0].second);

  candidate_.answers["synccheck"] = {Late(), Says("")};
  const SanitizerLook look = Look();
  EXPECT_EQ(look.finding.reason, "");
  EXPECT_TRUE(look.whole);
  EXPECT_THAT(look.notes[0], HasSubstr("synccheck"));
}

TEST_F(SanitizerLooksTest, ACandidateThatDoesNotEndWhereTheOriginalDoesIsNotAccepted) {
  candidate_.answers["racecheck"] = {Late()};
  const SanitizerLook look = Look();
  EXPECT_EQ(look.finding.reason, "timed_out");
  EXPECT_THAT(look.finding.detail,
              HasSubstr("under compute-sanitizer's racecheck it did not end within 1 ms"));
}

TEST_F(SanitizerLooksTest, WhatTheOriginalCannotDoEitherIsANote) {
  candidate_.answers["racecheck"] = {Late()};
  original_.answers["racecheck"] = {Late()};
  const SanitizerLook look = Look();
  EXPECT_EQ(look.finding.reason, "");
  EXPECT_FALSE(look.whole);
  EXPECT_THAT(look.notes[0], HasSubstr("not looked at: racecheck: it did not end"));
  EXPECT_EQ(candidate_.asked.size(), 1u) << "asked again in vain";
}

TEST_F(SanitizerLooksTest, AToolThatFailsByItselfIsANote) {
  candidate_.answers["initcheck"] = {Fails("it exited with 1")};
  const SanitizerLook look = Look();
  EXPECT_EQ(look.finding.reason, "");
  EXPECT_FALSE(look.whole);
  EXPECT_THAT(look.notes[0], HasSubstr("not looked at: initcheck: it exited with 1"));
}

// A proof takes 10 s; two more minutes for each tool would be its end.
TEST_F(SanitizerLooksTest, NobodyWaitsLongForALargeCase) {
  candidate_.answers["racecheck"] = {Late()};
  candidate_.answers["memcheck"] = {Says("Invalid write")};
  const SanitizerLook look = Look(false);
  EXPECT_EQ(look.finding.reason, "out_of_bounds") << "what is found counts";
  candidate_.answers.erase("memcheck");
  const SanitizerLook other = Look(false);
  EXPECT_EQ(other.finding.reason, "");
  EXPECT_FALSE(other.whole);
  EXPECT_THAT(other.notes, testing::Contains(HasSubstr("not looked at: racecheck")));
  EXPECT_LE(candidate_.asked.back().second, milliseconds(4000));
  EXPECT_EQ(original_.asked.size(), 1u) << "the one that memcheck's error was compared with";
}

// On an H200 a product of 2048 x 2048 matrices, 48 MiB, took 75 s.
TEST(SizeForSanitizers, IsTheLargestSmallOne) {
  constexpr std::int64_t kMega = std::int64_t{1} << 20;
  EXPECT_EQ(SizeForSanitizers(8 * kMega, {kMega}), 0u) << "its own is small";
  EXPECT_EQ(SizeForSanitizers(48 * kMega, {16, std::nullopt, 3 * kMega, kMega, 47 * kMega}), 3u);
  EXPECT_EQ(SizeForSanitizers(200 * kMega, {16, 9 * kMega}), 1u);
  EXPECT_EQ(SizeForSanitizers(48 * kMega, {}), 0u) << "the only one";
  EXPECT_EQ(SizeForSanitizers(48 * kMega, {47 * kMega, 9 * kMega, 10 * kMega, 90 * kMega}), 2u);
  EXPECT_EQ(SizeForSanitizers(200 * kMega, {64 * kMega, 199 * kMega}), 1u);
  EXPECT_EQ(SizeForSanitizers(200 * kMega, {65 * kMega, std::nullopt}), std::nullopt);
}

}  // namespace
}  // namespace cupilot::worker
