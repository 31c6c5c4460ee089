// The rule of a verdict: lower end of the interval, 200 ns, no case slower, two processes.
#include "evaluate/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace cupilot::evaluate {
namespace {

using ::testing::HasSubstr;

records::Workload MakeWorkload(const std::vector<std::pair<std::string, double>>& cases) {
  records::Workload workload;
  for (const auto& [name, weight] : cases) {
    records::Case one;
    one.name = name;
    one.weight = weight;
    workload.cases.push_back(one);
  }
  return workload;
}

records::CaseResult MakeResult(const std::string& name, double original_us, double speedup,
                               double low, double high) {
  records::CaseResult result;
  result.name = name;
  result.original_us = original_us;
  result.variant_us = original_us / speedup;
  result.speedup = speedup;
  result.interval = {low, high};
  result.l2 = "warm";
  result.samples = 60;
  return result;
}

protocol::MeasureReply MakeReply(std::vector<records::CaseResult> cases) {
  protocol::MeasureReply reply;
  reply.cases = std::move(cases);
  return reply;
}

Verdict Judge(std::vector<records::CaseResult> cases, const records::Workload& workload) {
  const auto verdict = JudgeOnce(MakeReply(std::move(cases)), workload);
  EXPECT_TRUE(verdict) << verdict.error().message;
  return verdict.value_or(Verdict{});
}

const records::Workload kOne = MakeWorkload({{"a", 1}});

TEST(Combine, IsTotalTimeBeforeOverAfter) {
  // Equal weights, 2x and 1x: 2 / (0.5 + 1).
  const auto combined = Combine({MakeResult("a", 10, 2, 2, 2), MakeResult("b", 10, 1, 1, 1)},
                                MakeWorkload({{"a", 1}, {"b", 1}}));
  ASSERT_TRUE(combined);
  EXPECT_NEAR(combined->speedup, 2 / 1.5, 1e-12);
  EXPECT_NEAR(combined->interval[0], 2 / 1.5, 1e-12);
  EXPECT_NEAR(combined->gain_us, 2.5, 1e-12);
}

TEST(Combine, KeepsTheIntervalOfASingleCase) {
  const auto combined = Combine({MakeResult("a", 10, 1.5, 1.4, 1.7)}, kOne);
  ASSERT_TRUE(combined);
  EXPECT_NEAR(combined->interval[0], 1.4, 1e-12);
  EXPECT_NEAR(combined->interval[1], 1.7, 1e-12);
}

TEST(Combine, OnlyTheBetterOfColdAndWarmCounts) {
  records::CaseResult cold = MakeResult("a", 10, 1.0, 0.99, 1.01);
  cold.l2 = "cold";
  const auto combined = Combine({cold, MakeResult("a", 10, 1.5, 1.4, 1.6)}, kOne);
  ASSERT_TRUE(combined);
  EXPECT_NEAR(combined->speedup, 1.5, 1e-12);
}

TEST(Combine, ACaseOutsideTheGuardRunsTheOriginal) {
  const records::Workload two = MakeWorkload({{"small", 1}, {"large", 3}});
  const auto combined =
      Combine({MakeResult("large", 10, 2, 1.9, 2.1), records::LeftToOriginal("small")}, two);
  ASSERT_TRUE(combined) << combined.error().message;
  EXPECT_NEAR(combined->speedup, 4 / 2.5, 1e-12);
  // 1.5 of the weights is saved, by launches of 10.
  EXPECT_NEAR(combined->gain_us, 5, 1e-12);
  // No width of its own, and still its share of the whole.
  EXPECT_GT(combined->interval[0], 1.55);
  EXPECT_LT(combined->interval[0], 1.6);
  EXPECT_FALSE(Combine({records::LeftToOriginal("large"), records::LeftToOriginal("small")}, two));
  EXPECT_FALSE(Combine({MakeResult("large", 10, 2, 1.9, 2.1)}, two)) << "not said is not left";
}

TEST(Combine, RefusesImpossibleNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Combine({}, kOne));
  EXPECT_FALSE(Combine({MakeResult("b", 10, 1.5, 1.4, 1.6)}, kOne));
  EXPECT_FALSE(Combine({MakeResult("a", 10, nan, 1.4, 1.6)}, kOne));
  EXPECT_FALSE(Combine({MakeResult("a", 0, 1.5, 1.4, 1.6)}, kOne));
  EXPECT_FALSE(Combine({MakeResult("a", 10, 1.5, 1.6, 1.7)}, kOne));
  EXPECT_FALSE(Combine({MakeResult("a", 10, 1.5, 1.4, 1.6)}, MakeWorkload({{"a", 0}})));
}

TEST(JudgeOnce, DemandsTheLowerEnd) {
  EXPECT_TRUE(Judge({MakeResult("a", 100, 1.05, 1.02, 1.08)}, kOne).accepted);
  const Verdict verdict = Judge({MakeResult("a", 100, 1.05, 1.0199, 1.08)}, kOne);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_EQ(verdict.reason, "not_faster");
}

TEST(JudgeOnce, DemandsTwoHundredNanoseconds) {
  // 1.1 us at 1.2x saves 183 ns.
  const Verdict verdict = Judge({MakeResult("a", 1.1, 1.2, 1.19, 1.21)}, kOne);
  EXPECT_EQ(verdict.reason, "not_faster");
  EXPECT_THAT(verdict.detail, HasSubstr("below 200 ns"));
  EXPECT_TRUE(Judge({MakeResult("a", 1.3, 1.2, 1.19, 1.21)}, kOne).accepted);
}

TEST(JudgeOnce, NoCaseMayBecomeSlower) {
  const records::Workload two = MakeWorkload({{"a", 1}, {"b", 0.01}});
  const Verdict verdict =
      Judge({MakeResult("a", 100, 2, 1.9, 2.1), MakeResult("b", 100, 0.97, 0.9, 1.0)}, two);
  EXPECT_EQ(verdict.reason, "not_faster");
  EXPECT_THAT(verdict.detail, HasSubstr("'b'"));
  EXPECT_TRUE(Judge({MakeResult("a", 100, 2, 1.9, 2.1), MakeResult("b", 100, 0.98, 0.9, 1.0)}, two)
                  .accepted);
}

TEST(JudgeOnce, OnlyAdmittedCasesMayNotBecomeSlower) {
  const records::Workload two = MakeWorkload({{"small", 1}, {"large", 1}});
  EXPECT_TRUE(Judge({MakeResult("large", 100, 2, 1.9, 2.1), records::LeftToOriginal("small")}, two)
                  .accepted);
  // What it wins has to show in the whole workload.
  const records::Workload rare = MakeWorkload({{"small", 100}, {"large", 1}});
  EXPECT_EQ(
      Judge({MakeResult("large", 100, 2, 1.9, 2.1), records::LeftToOriginal("small")}, rare).reason,
      "not_faster");
}

TEST(JudgeOnce, AGuardThatAdmitsNothingIsAnInvalidLaunch) {
  const Verdict verdict = Judge({records::LeftToOriginal("a")}, kOne);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_EQ(verdict.reason, "invalid_launch");
}

TEST(JudgeOnce, AFailedMeasurementKeepsItsReason) {
  protocol::MeasureReply reply;
  reply.failed = true;
  reply.reason = "unstable_timing";
  const auto verdict = JudgeOnce(reply, kOne);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->reason, "unstable_timing");
}

TEST(JudgeOnce, ALoserThatStoppedEarlyIsNotFaster) {
  protocol::MeasureReply reply;
  reply.stopped_early = true;
  const auto verdict = JudgeOnce(reply, kOne);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->reason, "not_faster");
}

TEST(JudgeBoth, TheSecondProcessMustSayItToo) {
  const auto good = MakeReply({MakeResult("a", 100, 1.5, 1.4, 1.6)});
  const auto bad = MakeReply({MakeResult("a", 100, 1.03, 0.99, 1.07)});
  const auto verdict = JudgeBoth(good, bad, kOne);
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->accepted);
  EXPECT_THAT(verdict->detail, HasSubstr("second process"));
}

TEST(JudgeBoth, StatesTheNumbersOfTheOneThatSaysLess) {
  const auto more = MakeReply({MakeResult("a", 100, 1.5, 1.4, 1.6)});
  const auto less = MakeReply({MakeResult("a", 100, 1.3, 1.2, 1.4)});
  for (const auto& [first, second, is_second] :
       {std::tuple(more, less, true), std::tuple(less, more, false)}) {
    const auto verdict = JudgeBoth(first, second, kOne);
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->accepted);
    EXPECT_NEAR(verdict->combined->speedup, 1.3, 1e-12);
    EXPECT_EQ(SecondSaysLess(first, second, kOne).value(), is_second);
  }
}

records::Evaluation MakeEvaluation(const std::string& variant, double speedup, double low,
                                   double high) {
  records::Evaluation evaluation;
  evaluation.variant = variant;
  evaluation.kernel_key = "key";
  evaluation.target = "host";
  evaluation.workload = "workload";
  evaluation.accepted = true;
  evaluation.cases = {MakeResult("a", 100, speedup, low, high)};
  return evaluation;
}

TEST(BeatsIncumbent, NeedsTheSameMarginAsAgainstTheOriginal) {
  const auto incumbent = MakeEvaluation("old", 1.5, 1.49, 1.51);
  EXPECT_TRUE(BeatsIncumbent(MakeEvaluation("new", 1.6, 1.59, 1.61), incumbent, kOne));
  EXPECT_FALSE(BeatsIncumbent(MakeEvaluation("new", 1.52, 1.51, 1.53), incumbent, kOne));
  EXPECT_FALSE(BeatsIncumbent(MakeEvaluation("new", 1.6, 1.4, 1.8), incumbent, kOne));
  EXPECT_FALSE(BeatsIncumbent(MakeEvaluation("old", 1.6, 1.59, 1.61), incumbent, kOne));
}

// Two measurements at two times say less of two variants than one of both.
TEST(BeatsIncumbent, OneRunOfBothDecides) {
  const auto old = MakeEvaluation("old", 1.5, 1.4, 1.6);
  const auto with = [](const std::string& variant, double speedup) {
    auto evaluation = MakeEvaluation("new", variant == "old" ? 1.4 : 1.5, 1.3, 1.6);
    NoteDuel(variant, {speedup, {speedup - 0.01, speedup + 0.01}, 10}, evaluation);
    return evaluation;
  };
  EXPECT_TRUE(BeatsIncumbent(with("old", 1.1), old, kOne));
  EXPECT_FALSE(BeatsIncumbent(with("old", 1.02), old, kOne)) << "not for certain";
  auto faster = MakeEvaluation("new", 2, 1.99, 2.01);
  EXPECT_TRUE(BeatsIncumbent(faster, old, kOne));
  NoteDuel("old", {0.9, {0.89, 0.91}, -10}, faster);
  EXPECT_FALSE(BeatsIncumbent(faster, old, kOne)) << "it only seemed to be faster";
  // Whichever of the two noted it.
  EXPECT_TRUE(BeatsIncumbent(old, faster, kOne));
  // Of another one it says nothing.
  EXPECT_FALSE(Dueled(with("third", 1.1), old));
}

TEST(BeatsIncumbent, ARejectedCandidateNeverDoes) {
  auto candidate = MakeEvaluation("new", 3, 2.9, 3.1);
  candidate.accepted = false;
  EXPECT_FALSE(BeatsIncumbent(candidate, MakeEvaluation("old", 1.5, 1.49, 1.51), kOne));
}

TEST(BeatsIncumbent, TheCasesThatOneOfThemLeavesCountAsTheOriginal) {
  const records::Workload two = MakeWorkload({{"small", 1}, {"large", 1}});
  auto both = MakeEvaluation("both", 1.3, 1.29, 1.31);
  both.cases = {MakeResult("small", 100, 1.3, 1.29, 1.31),
                MakeResult("large", 100, 1.3, 1.29, 1.31)};
  auto large = MakeEvaluation("large", 1.43, 1.42, 1.44);
  large.cases = {MakeResult("large", 100, 2.5, 2.49, 2.51), records::LeftToOriginal("small")};
  EXPECT_TRUE(BeatsIncumbent(large, both, two)) << "2 / (1 + 0.4) against 1.3";
  EXPECT_FALSE(BeatsIncumbent(both, large, two));
}

TEST(BeatsIncumbent, EvidenceForSomethingElseIsNoCompetitor) {
  const auto candidate = MakeEvaluation("new", 1.1, 1.09, 1.11);
  auto incumbent = MakeEvaluation("old", 1.5, 1.49, 1.51);
  incumbent.kernel_key = "before the edit";
  EXPECT_TRUE(BeatsIncumbent(candidate, incumbent, kOne));
}

}  // namespace
}  // namespace cupilot::evaluate
