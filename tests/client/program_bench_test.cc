// What `cupilot bench` concludes, from runs whose times are made up.
#include "client/bench/program_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace cupilot::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A program of which each kernel's variant adds some seconds to ten, with a little noise.
class MadeProgram {
 public:
  explicit MadeProgram(std::map<std::string, double> added) : added_(std::move(added)) {}

  base::Result<ProgramBench> Bench(const BenchLimits& limits) {
    return BenchProgram([this](const Variation& variation) { return Run(variation); }, limits,
                        [](const std::string&) {});
  }

  std::vector<std::string> runs;               // "originals", "tuned", "tuned counted", "but NAME"
  std::map<std::string, std::string> endings;  // by such a name
  double noise = 0.002;
  bool kernels_are_seen = false;
  std::size_t forgets_after = 1000000;  // runs; the variants cost nothing from then on

 private:
  base::Result<TimedRun> Run(const Variation& variation) {
    const std::string name = variation.originals         ? "originals"
                             : variation.without.empty() ? "tuned"
                                                         : "but " + variation.without;
    runs.push_back(name + (variation.counts ? " counted" : variation.kernel_time ? " timed" : ""));
    TimedRun run;
    run.wall_seconds = 10;
    for (const auto& [kernel, seconds] : added_) {
      if (!variation.originals && variation.without != kernel && runs.size() <= forgets_after) {
        run.wall_seconds += seconds;
      }
      if (variation.counts) run.counts.push_back({kernel, 100, 10, 0, true});
    }
    run.wall_seconds *= 1 + noise * static_cast<double>(static_cast<int>(runs.size() * 7 % 5) - 2);
    run.user_seconds = 2 * run.wall_seconds;
    // Of ten seconds four are in kernels, and all that variants add.
    if (variation.kernel_time && kernels_are_seen) run.kernel_seconds = run.wall_seconds - 6;
    run.ending = endings[variation.kernel_time ? name + " timed" : name];
    run.errors = run.ending.empty() ? "" : "out of luck";
    return run;
  }

  std::map<std::string, double> added_;
};

BenchLimits Long() { return {30, 1e6, 1}; }

TEST(ProgramBench, PairsTurnTheirOrder) {
  MadeProgram program({{"k", -2}});
  const auto bench = program.Bench({5, 1e6, 2});
  ASSERT_TRUE(bench);
  EXPECT_THAT(program.runs,
              ElementsAre("originals", "tuned", "originals", "tuned counted",  // warming up
                          "originals", "tuned", "tuned", "originals", "originals", "tuned", "tuned",
                          "originals", "originals", "tuned",
                          "originals timed"));  // whether kernels are seen
  ASSERT_EQ(bench->wall.size(), 5u);
  for (const auto& [without, with] : bench->wall) {
    EXPECT_NEAR(without, 10, 0.1);
    EXPECT_NEAR(with, 8, 0.1);
  }
  EXPECT_NEAR(bench->user[1].second, 16, 0.2);
  EXPECT_EQ(bench->verdict, ProgramVerdict::kFaster);
  EXPECT_NEAR(bench->ratio->ratio, 1.25, 0.01);
  EXPECT_TRUE(bench->suspects.empty());
}

TEST(ProgramBench, TimeInKernelsIsOfRunsOfItsOwn) {
  MadeProgram program({{"k", -2}});
  program.kernels_are_seen = true;
  const auto bench = program.Bench({5, 1e6, 1});
  ASSERT_TRUE(bench);
  ASSERT_EQ(bench->in_kernels.size(), kLeastPairs);
  for (const auto& [without, with] : bench->in_kernels) {
    EXPECT_NEAR(without, 4, 0.1);
    EXPECT_NEAR(with, 2, 0.1);
  }
  EXPECT_EQ(bench->wall.size(), 5u);
  const std::vector<std::string> timed(program.runs.begin() + 12, program.runs.begin() + 16);
  EXPECT_THAT(timed,
              ElementsAre("originals timed", "tuned timed", "tuned timed", "originals timed"));
}

TEST(ProgramBench, AProgramThatDoesNotBearTheClockHasAVerdictAllTheSame) {
  MadeProgram program({{"k", -2}});
  program.kernels_are_seen = true;
  program.endings["originals timed"] = "was ended by a signal";
  const auto bench = program.Bench({5, 1e6, 1});
  ASSERT_TRUE(bench) << bench.error().message;
  EXPECT_TRUE(bench->in_kernels.empty());
  EXPECT_EQ(bench->verdict, ProgramVerdict::kFaster);
}

TEST(ProgramBench, EndsWhenTheIntervalIsNarrowOrTheTimeIsUp) {
  const auto pairs = [](double spread, std::size_t count) {
    base::TimedPairs made;
    for (std::size_t i = 0; i < count; ++i) {
      made.emplace_back(10 * (i % 2 == 0 ? 1 + spread : 1 - spread), 10);
    }
    return made;
  };
  EXPECT_FALSE(EnoughRuns(pairs(0, 4), 1e9, 60, 30)) << "an interval needs some";
  EXPECT_TRUE(EnoughRuns(pairs(0.001, 5), 1, 60, 30)) << "narrow";
  EXPECT_FALSE(EnoughRuns(pairs(0.1, 5), 1, 60, 30)) << "wide";
  EXPECT_TRUE(EnoughRuns(pairs(0.1, 5), 60, 60, 30)) << "the time is up";
  EXPECT_FALSE(EnoughRuns(pairs(0.1, 29), 1, 60, 30));
  EXPECT_TRUE(EnoughRuns(pairs(0.1, 30), 1, 60, 30));
}

TEST(ProgramBench, OnlyAWholeIntervalIsAVerdict) {
  EXPECT_EQ(JudgeProgram({1, 1, 1.02, 1.001, 1.04}), ProgramVerdict::kFaster);
  EXPECT_EQ(JudgeProgram({1, 1, 1.02, 0.999, 1.04}), ProgramVerdict::kNoDifference);
  EXPECT_EQ(JudgeProgram({1, 1, 0.98, 0.96, 1.0}), ProgramVerdict::kNoDifference);
  EXPECT_EQ(JudgeProgram({1, 1, 0.98, 0.96, 0.999}), ProgramVerdict::kSlower);
}

TEST(ProgramBench, OfSeveralKernelsTheOneThatLosesIsFound) {
  MadeProgram program({{"bad", 3}, {"good", -1}, {"neutral", 0}});
  const auto bench = program.Bench(Long());
  ASSERT_TRUE(bench);
  EXPECT_EQ(bench->verdict, ProgramVerdict::kSlower);
  ASSERT_EQ(bench->suspects.size(), 3u);
  for (const Suspect& suspect : bench->suspects) {
    ASSERT_TRUE(suspect.ratio) << suspect.kernel;
    EXPECT_EQ(suspect.loses(), suspect.kernel == "bad") << suspect.kernel;
  }
  EXPECT_NEAR(bench->suspects[0].ratio->ratio, 12.0 / 9, 0.01);
}

// Where four win a fifth and one loses a tenth, the program is faster, and more so without the one.
TEST(ProgramBench, AVariantThatLosesInAProgramThatOthersMakeFasterIsFound) {
  for (const bool seen : {true, false}) {
    SCOPED_TRACE(seen);
    MadeProgram program({{"a", -0.4}, {"b", -0.4}, {"bad", 0.2}, {"c", -0.4}, {"d", -0.4}});
    program.kernels_are_seen = seen;
    program.noise = 0.0005;
    const auto bench = program.Bench({5, 1e6, 1});
    ASSERT_TRUE(bench);
    EXPECT_EQ(bench->verdict, ProgramVerdict::kFaster);
    ASSERT_EQ(bench->suspects.size(), 1u) << "those that win are not suspected";
    const Suspect& suspect = bench->suspects[0];
    EXPECT_EQ(suspect.kernel, "bad");
    EXPECT_TRUE(suspect.loses());
    EXPECT_EQ(suspect.pairs.size(), kLeastPairs);
    // A tenth of a kernel is hardly seen in a program, but it is in the time of all kernels.
    EXPECT_EQ(suspect.in_kernels, seen);
    EXPECT_NEAR(suspect.ratio->ratio, seen ? 2.6 / 2.4 : 8.6 / 8.4, 0.01);
    // So many further runs at most: each kernel is looked at twice, and who is suspected further.
    const auto left_out =
        std::count_if(program.runs.begin(), program.runs.end(),
                      [](const std::string& run) { return run.starts_with("but "); });
    EXPECT_LE(static_cast<std::size_t>(left_out), 5 * kLookPairs + kLeastPairs);
  }
}

TEST(ProgramBench, KernelsAreLeftOutForAsLongAgainAtMost) {
  MadeProgram program({{"a", -1}, {"bad", 0.2}, {"c", -1}});
  program.noise = 0.0005;
  // The pairs take all of it, and as long again is too little for a kernel's turn.
  const auto bench = program.Bench({30, 100, 1});
  ASSERT_TRUE(bench);
  EXPECT_EQ(bench->verdict, ProgramVerdict::kFaster);
  ASSERT_EQ(bench->suspects.size(), 3u) << "what was not looked at is said";
  for (const Suspect& suspect : bench->suspects) EXPECT_FALSE(suspect.ratio);
  EXPECT_LT(bench->seconds, 2 * 100);
}

TEST(ProgramBench, WhereNothingLosesNobodyIsSuspected) {
  MadeProgram program({{"a", -1}, {"c", -1}});
  program.kernels_are_seen = true;
  const auto bench = program.Bench(Long());
  ASSERT_TRUE(bench);
  EXPECT_EQ(bench->verdict, ProgramVerdict::kFaster);
  EXPECT_TRUE(bench->suspects.empty());
}

TEST(ProgramBench, AKernelAloneIsSeenToLoseTwice) {
  MadeProgram program({{"bad", 3}});
  const auto bench = program.Bench({5, 1e6, 1});
  ASSERT_TRUE(bench);
  EXPECT_EQ(program.runs.size(), 2u + 2 * 5 + 2 * 5 + 1);
  EXPECT_EQ(program.runs[12], "tuned");
  EXPECT_EQ(program.runs[13], "but bad");
  ASSERT_EQ(bench->suspects.size(), 1u);
  EXPECT_TRUE(bench->suspects[0].loses());
  // A loss that does not show again is none.
  program.forgets_after = program.runs.size() + 2 + 2 * 5;
  const auto once = program.Bench({5, 1e6, 1});
  ASSERT_TRUE(once);
  EXPECT_EQ(once->verdict, ProgramVerdict::kSlower);
  ASSERT_EQ(once->suspects.size(), 1u);
  EXPECT_FALSE(once->suspects[0].loses());
}

TEST(ProgramBench, OneKernelOfALongProgramIsLookedAtAndNoneIsAccusedWithoutThat) {
  MadeProgram program({{"bad", 3}, {"good", -1}});
  const auto bench = program.Bench({30, 1, 1});  // the least pairs take longer
  ASSERT_TRUE(bench);
  EXPECT_EQ(bench->verdict, ProgramVerdict::kSlower);
  ASSERT_EQ(bench->suspects.size(), 2u);
  EXPECT_TRUE(bench->suspects[0].loses());
  EXPECT_FALSE(bench->suspects[1].ratio);
  EXPECT_FALSE(bench->suspects[1].loses());
}

TEST(ProgramBench, WithoutTunedLaunchesThereIsNothingToCompare) {
  MadeProgram program({});
  const auto bench = program.Bench(Long());
  ASSERT_TRUE(bench);
  EXPECT_EQ(bench->verdict, ProgramVerdict::kNothingTuned);
  EXPECT_THAT(program.runs, ElementsAre("originals", "tuned counted"));
}

TEST(ProgramBench, AFailureSaysWithWhichKernels) {
  MadeProgram always({{"k", 1}});
  always.endings = {{"originals", "ended with 3"}, {"tuned", "ended with 3"}};
  const auto bench = always.Bench(Long());
  ASSERT_FALSE(bench);
  EXPECT_EQ(bench.error().code, base::ErrorCode::kToolFailed);
  EXPECT_THAT(bench.error().message, HasSubstr("ended with 3 without tuned kernels"));
  EXPECT_THAT(bench.error().message, HasSubstr("out of luck"));
  MadeProgram tuned({{"k", 1}});
  tuned.endings = {{"tuned", "was ended by Aborted"}};
  const auto crash = tuned.Bench(Long());
  ASSERT_FALSE(crash);
  EXPECT_THAT(crash.error().message, HasSubstr("was ended by Aborted with tuned kernels"));
  EXPECT_THAT(crash.error().message, HasSubstr("without them it ended well"));
}

TEST(Counts, AreAddedUpByKernel) {
  const auto counts = ParseCounts(
      "b\t1\t2\t3\thost\n"
      "a<int, 4>\t10\t0\t0\thost\tlater\n"
      "b\t4\t0\t0\tcuda\n"
      "\t1\t1\t1\thost\nc\t1\nd\t-1\t0\t0\thost\ne\tx\t0\t0\thost\nf\t1\t0\t0");
  EXPECT_THAT(counts, ElementsAre(KernelCounts{"a<int, 4>", 10, 0, 0, true},
                                  KernelCounts{"b", 5, 2, 3, false}));
  EXPECT_EQ(counts[1].calls(), 10);
  EXPECT_TRUE(ParseCounts("").empty());
}

}  // namespace
}  // namespace cupilot::client
