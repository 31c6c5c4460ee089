// The answers of strategist, aligner and judge, all made up: their reading is what is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agents/roles/plain_text.h"
#include "tests/daemon/agents/roles/examples.h"

namespace cupilot::agents {
namespace {

using records::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json StepOf(const std::string& technique, Json parameters = Json::array()) {
  return {{"technique", technique},
          {"parameters", std::move(parameters)},
          {"rationale", "because"},
          {"expected_gain", 1.5}};
}

Json StrategyOf(std::vector<std::string> parents, std::vector<Json> steps) {
  return {{"title", "A title"},
          {"parents", std::move(parents)},
          {"bottleneck", "latency"},
          {"steps", std::move(steps)}};
}

std::string AnswerOf(std::vector<Json> strategies) {
  return Json{{"strategies", std::move(strategies)}}.dump();
}

std::string ComplaintAbout(const Json& strategy) {
  const auto read = ReadStrategies(AnswerOf({strategy}), FullStrategistInputs());
  return read ? "" : read.error().message;
}

TEST(Strategist, ReadsWhatItAnswers) {
  const auto read = ReadStrategies(
      AnswerOf({StrategyOf({"P1", "P2"}, {StepOf("unrolling", {{{"name", "factor"}, {"value", 8}}}),
                                          StepOf("warp_reduction"), StepOf("thread_coarsening")}),
                StrategyOf({}, {StepOf("other:Double Buffering"), StepOf("swizzled blocks")})}),
      FullStrategistInputs());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_THAT((*read)[0].parents, ElementsAre(0u, 1u));
  const records::Strategy& first = (*read)[0].strategy;
  EXPECT_EQ(first.title, "A title");
  EXPECT_EQ(first.bottleneck, "latency");
  EXPECT_EQ(first.steps[0].technique, "unrolling");
  EXPECT_EQ(first.steps[0].parameters, Json({{"factor", 8}}));
  EXPECT_EQ(first.steps[0].expected_gain, 1.5);
  EXPECT_THAT((*read)[1].parents, IsEmpty());
  EXPECT_EQ((*read)[1].strategy.steps[0].technique, "other:double_buffering");
  EXPECT_EQ((*read)[1].strategy.steps[1].technique, "other:swizzled_blocks");
  // What it becomes is a strategy like any other.
  EXPECT_TRUE(records::ParseStrategy(records::ToJson(first)));
}

TEST(Strategist, WithoutParentsItIsOfTheOriginal) {
  Json strategy = StrategyOf({}, {StepOf("unrolling")});
  strategy.erase("parents");
  const auto read = ReadStrategies(AnswerOf({strategy}), FullStrategistInputs());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->front().parents, IsEmpty());
}

TEST(Strategist, OneNewTechniqueAStep) {
  EXPECT_EQ(ComplaintAbout(StrategyOf({"P1"}, {StepOf("unrolling"), StepOf("warp_reduction")})),
            "");
  EXPECT_THAT(ComplaintAbout(StrategyOf({"P1"}, {StepOf("unrolling"), StepOf("warp_reduction"),
                                                 StepOf("thread_coarsening")})),
              HasSubstr("brings 2 techniques that none of its parents has"));
  EXPECT_THAT(ComplaintAbout(StrategyOf({}, {StepOf("unrolling"), StepOf("warp_reduction"),
                                             StepOf("thread_coarsening"), StepOf("other:x")})),
              HasSubstr("at most 3 steps"));
}

TEST(Strategist, WhatIsWrongHasItsPath) {
  EXPECT_THAT(ComplaintAbout(StrategyOf({"P3"}, {StepOf("unrolling")})),
              HasSubstr("strategies[0].parents: there is no strategy 'P3'"));
  EXPECT_THAT(ComplaintAbout(StrategyOf({}, {})), HasSubstr("strategies[0].steps: is empty"));
  EXPECT_THAT(
      ComplaintAbout(StrategyOf({}, {StepOf("unrolling", {{{"name", "factor"}, {"value", 65}}})})),
      HasSubstr("steps[0].parameters[0].value: of factor, expected 2 to 64"));
  EXPECT_THAT(
      ComplaintAbout(StrategyOf({}, {StepOf("unrolling", {{{"name", "speed"}, {"value", 1}}})})),
      HasSubstr("unrolling has no parameter 'speed'"));
  EXPECT_THAT(ComplaintAbout(StrategyOf(
                  {}, {StepOf("thread_coarsening", {{{"name", "form"}, {"value", "other"}}})})),
              HasSubstr("expected sequential|jammed"));
  EXPECT_THAT(ComplaintAbout(
                  StrategyOf({"P1"}, {StepOf("unrolling", {{{"name", "factor"}, {"value", 4}}})})),
              HasSubstr("the same as P1"));
  Json bound = StrategyOf({}, {StepOf("unrolling")});
  bound["bottleneck"] = "everything";
  EXPECT_THAT(ComplaintAbout(bound), HasSubstr("strategies[0].bottleneck: must be one of"));
}

TEST(Strategist, TheGoodOnesOfAnAnswerAreTakenEachOnce) {
  const Json good = StrategyOf({}, {StepOf("unrolling")});
  const auto read = ReadStrategies(AnswerOf({StrategyOf({"P9"}, {StepOf("x")}), good, good}),
                                   FullStrategistInputs());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 1u);
}

TEST(Strategist, NoMoreThanWereAskedFor) {
  std::vector<Json> many;
  for (int i = 0; i < 10; ++i) many.push_back(StrategyOf({}, {StepOf("x" + std::to_string(i))}));
  StrategistInputs inputs = FullStrategistInputs();
  inputs.count = 3;
  const auto read = ReadStrategies(AnswerOf(many), inputs);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 3u);
  for (int i = 0; i < 10; ++i) many.push_back(StrategyOf({}, {StepOf("y" + std::to_string(i))}));
  EXPECT_FALSE(ReadStrategies(AnswerOf(many), inputs));
}

TEST(Strategist, GainsAreHintsWithinLimits) {
  for (const auto& [said, kept] : {std::pair{0.1, 1.0}, {2.0, 2.0}, {1e300, 4.0}, {-5.0, 1.0}}) {
    Json step = StepOf("unrolling");
    step["expected_gain"] = said;
    const auto read = ReadStrategies(AnswerOf({StrategyOf({}, {step})}), FullStrategistInputs());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->front().strategy.steps[0].expected_gain, kept);
  }
}

TEST(Strategist, PromptHoldsWhatWasTried) {
  const std::string prompt = StrategistRequest(FullStrategistInputs(), {}).prompt;
  for (const char* part :
       {"P1: Try unrolling (answers latency)", "Result: accepted, 1.4 times as fast",
        "Result: not accepted (wrong_values)", "thread_coarsening: not_faster: registers",
        "Where: a row softmax on sm_90", "Result: 1.7 times as fast",
        "Result: said to help, without a figure", "- `unrolling` (answers latency fp32)",
        "factor (iterations that become one: 2 to 64)", "it gained 1.2", "Answer 4 strategies",
        "the bottleneck `latency`", "In case 1, where most time is to be gained"}) {
    EXPECT_THAT(prompt, HasSubstr(part));
  }
}

TEST(Strategist, TheFormItShowsFits) {
  const StrategistInputs inputs = FullStrategistInputs();
  const std::string form = StrategistData(inputs)["answer_form"].get<std::string>();
  const auto read = ReadStrategies(form, inputs);
  // It is P1 itself, and understood so far.
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("the same as P1"));
}

TEST(Aligner, ReadsWhatTheCodeDoes) {
  const AlignerInputs inputs = FullAlignerInputs();
  const auto form = AlignerData(inputs)["answer_form"].get<std::string>();
  const auto read = ReadAligned(form, inputs);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->steps[0].technique, "unrolling");
  EXPECT_EQ(read->steps[0].parameters, Json({{"factor", 4}}));
  EXPECT_EQ(read->bottleneck, "latency");
  EXPECT_FALSE(ReadAligned(R"({"title": "x", "steps": [], "bottleneck": "dram"})", inputs));
}

TEST(Judge, Votes) {
  const auto form = JudgeData(FullJudgeInputs())["answer_form"].get<std::string>();
  const auto yes = ReadVote(form);
  ASSERT_TRUE(yes) << yes.error().message;
  EXPECT_EQ(yes->same, SameFunction::kYes);
  const auto no = ReadVote("Hm.\n{\"same_function\": \"no\", \"why\": \"row 0\\nis lost\"}");
  ASSERT_TRUE(no);
  EXPECT_EQ(no->same, SameFunction::kNo);
  EXPECT_EQ(no->why, "row 0 is lost");
  EXPECT_FALSE(ReadVote(R"({"same_function": "certainly", "why": ""})"));
  EXPECT_FALSE(ReadVote(R"({"same_function": true, "why": ""})"));
}

TEST(Judge, RequestsDifferInTheirSampleAlone) {
  const ModelRequest first = JudgeRequest(FullJudgeInputs(), 0, {});
  const ModelRequest second = JudgeRequest(FullJudgeInputs(), 1, {});
  EXPECT_EQ(first.prompt, second.prompt);
  EXPECT_EQ(first.system, second.system);
  EXPECT_NE(RequestKey(first), RequestKey(second));
}

Tally Count(int yes, int no, int unsure) {
  std::vector<Vote> votes(static_cast<std::size_t>(yes), {SameFunction::kYes, ""});
  votes.insert(votes.end(), static_cast<std::size_t>(no), {SameFunction::kNo, ""});
  votes.insert(votes.end(), static_cast<std::size_t>(unsure), {SameFunction::kUnsure, ""});
  return CountVotes(votes);
}

TEST(Judge, DropsOnAClearMajorityOnlyAndOrdersOtherwise) {
  EXPECT_TRUE(Count(0, 3, 0).drop);
  EXPECT_TRUE(Count(0, 2, 0).drop);
  EXPECT_TRUE(Count(1, 4, 0).drop);
  EXPECT_FALSE(Count(1, 2, 0).drop);
  EXPECT_FALSE(Count(0, 2, 1).drop);
  EXPECT_FALSE(Count(0, 1, 0).drop);
  EXPECT_FALSE(Count(3, 0, 0).drop);
  EXPECT_FALSE(Count(0, 0, 0).drop);
  EXPECT_EQ(Count(3, 0, 0).score, 1.0);
  EXPECT_EQ(Count(0, 3, 0).score, -1.0);
  EXPECT_GT(Count(2, 1, 0).score, Count(1, 1, 1).score);
  EXPECT_EQ(Count(0, 0, 0).score, 0.0);
}

TEST(Reviser, FindingsByKind) {
  records::Evaluation evaluation;
  const auto kind = [&](const char* reason) {
    evaluation.reason = reason;
    return FindingOf(evaluation).kind;
  };
  EXPECT_EQ(kind("build_failed"), Finding::Kind::kBuild);
  EXPECT_EQ(kind("forbidden_numerics"), Finding::Kind::kBuild);
  EXPECT_EQ(kind("wrong_values"), Finding::Kind::kCheck);
  EXPECT_EQ(kind("race"), Finding::Kind::kCheck);
  EXPECT_EQ(kind("not_faster"), Finding::Kind::kProfile);
  evaluation.accepted = true;
  EXPECT_EQ(kind(""), Finding::Kind::kProfile);
}

TEST(Reviser, AFindingIsTheSameOnAnotherDay) {
  records::Evaluation evaluation;
  evaluation.reason = "not_faster";
  evaluation.detail = "the speedup of 1.013 has a lower end of 0.997, and 1.020 is demanded";
  EXPECT_EQ(FindingOf(evaluation).detail,
            "the speedup of 1.0 has a lower end of 1.0, and 1.0 is demanded");
  evaluation.reason = "wrong_values";  // of the same inputs, always the same
  evaluation.detail = "sums[7]: expected 1.2345, got 2.5";
  EXPECT_EQ(FindingOf(evaluation).detail, evaluation.detail);
  evaluation.reason = "build_failed";
  evaluation.detail = "/tmp/x-123/candidate.cu(3): error in 'a /b/ 2', sm_90, \"/usr/lib/a.h\"";
  EXPECT_EQ(FindingOf(evaluation).detail, "candidate.cu(3): error in 'a /b/ 2', sm_90, \"a.h\"");
}

TEST(PlainText, NumbersWithDecimalsOnly) {
  EXPECT_EQ(WithRoundedNumbers("1234 us, 12.345 us, 1.25e-05, 13.0.88, x1.234, 0.996, v2.71828"),
            "1234 us, 12 us, 0.000013, 13.0.88, x1.234, 1.0, v2.71828");
  EXPECT_EQ(WithoutFolders("a/b/c, /a, /a/b, //x and 3 / 4"), "a/b/c, /a, b, //x and 3 / 4");
}

TEST(Reviser, ShowsOneFindingAndOfALogItsEnd) {
  ReviserInputs inputs = FullReviserInputs(Finding::Kind::kBuild);
  inputs.finding.detail =
      "the first line\n" + std::string(2 * kMostFinding, 'x') + "\nthe last line";
  const std::string build = ReviserRequest(inputs, {}).prompt;
  EXPECT_THAT(build, HasSubstr("It was refused before it ran, with the reason `wrong_values`"));
  EXPECT_THAT(build, HasSubstr("the last line"));
  EXPECT_THAT(build, testing::Not(HasSubstr("the first line")));
  inputs.finding.kind = Finding::Kind::kCheck;
  const std::string check = ReviserRequest(inputs, {}).prompt;
  EXPECT_THAT(check, HasSubstr("a check refused it"));
  EXPECT_THAT(check, HasSubstr("the first line"));
  EXPECT_THAT(check, testing::Not(HasSubstr("refused before it ran")));
  inputs.finding.kind = Finding::Kind::kProfile;
  EXPECT_THAT(ReviserRequest(inputs, {}).prompt, HasSubstr("what holds it back is `latency`"));
}

}  // namespace
}  // namespace cupilot::agents
