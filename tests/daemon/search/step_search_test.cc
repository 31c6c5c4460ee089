#include "search/step_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/kernel_search.h"
#include "search/techniques.h"

namespace cupilot::search {
namespace {

using records::Json;

Steps Blocks(std::int64_t x, std::int64_t y) {
  records::StrategyStep step;
  step.technique = "block_size";
  step.parameters = {{"x", x}, {"y", y}};
  return {step};
}

std::vector<Opinion> Promising() {
  return {{"block_size", true, "", {{{"x", 32}, {"y", 8}}, {{"x", 64}, {"y", 4}}}}};
}

// Both must be half of what won, or less: what is next to it in one of them is slow.
double SpeedOf(std::int64_t x, std::int64_t y) {
  const double off = std::log2(static_cast<double>(x) / static_cast<double>(y));
  const double small = 10 - std::log2(static_cast<double>(x * y));
  return (1 + small / 10) / (1 + 2 * std::fabs(off));
}

StepSearch::Result ResultOf(std::int64_t x, std::int64_t y) {
  return {Blocks(x, y), SpeedOf(x, y), {}, Failure::kWrong};
}

std::vector<StepSearch::Result> AroundThirtyTwo() {
  return {ResultOf(32, 32), ResultOf(16, 32), ResultOf(32, 16), ResultOf(8, 32),
          ResultOf(32, 8),  ResultOf(64, 16), ResultOf(16, 64), ResultOf(32, 4)};
}

const auto kNotTried = [](const Steps&) { return false; };

TEST(StepSearch, FindsWhatNoSingleStepLeadsTo) {
  StepSearch search(Blocks(32, 32), SpeedOf(32, 32), Promising(), AroundThirtyTwo(), 1,
                    kNumberStrategy);
  double best = 0;
  std::set<std::string> seen;
  while (const auto steps = search.Next(kNotTried)) {
    const Json& parameters = (*steps)[0].parameters;
    const auto x = parameters["x"].get<std::int64_t>(), y = parameters["y"].get<std::int64_t>();
    EXPECT_TRUE(CheckStep((*steps)[0]).has_value()) << parameters;
    EXPECT_LE(x * y, 1024) << "what the table of techniques demands";
    EXPECT_TRUE(seen.insert(parameters.dump()).second);
    best = std::max(best, SpeedOf(x, y));
    search.Know(ResultOf(x, y), false);
  }
  EXPECT_GE(best, SpeedOf(2, 2));
  EXPECT_LT(seen.size(), 60u) << "it is given up where nothing is gained";
}

TEST(StepSearch, BeginsWhereEnoughIsKnown) {
  std::vector<StepSearch::Result> few = AroundThirtyTwo();
  few.resize(5);
  StepSearch search(Blocks(32, 32), 1.2, Promising(), few, 1, kNumberStrategy);
  EXPECT_FALSE(search.HasNext(kNotTried));
  for (const std::int64_t x : {64, 128, 256}) search.Know(ResultOf(x, 1), false);
  EXPECT_TRUE(search.HasNext(kNotTried));
}

TEST(StepSearch, WhatOthersAskedForIsNotAskedForAgain) {
  StepSearch search(Blocks(32, 32), SpeedOf(32, 32), Promising(), AroundThirtyTwo(), 1,
                    kNumberStrategy);
  const auto first = search.Next(kNotTried);
  ASSERT_TRUE(first);
  StepSearch other(Blocks(32, 32), SpeedOf(32, 32), Promising(), AroundThirtyTwo(), 1,
                   kNumberStrategy);
  const auto next = other.Next([&](const Steps& steps) { return steps == *first; });
  ASSERT_TRUE(next);
  EXPECT_NE(*next, *first);
}

// The first one gains; from there on it counts what does not, and not what did not before it began.
TEST(StepSearch, IsGivenUpAsSoonAfterAGainAsWithoutOne) {
  const auto asked = [](bool gains) {
    StepSearch search(Blocks(32, 32), SpeedOf(32, 32), Promising(), AroundThirtyTwo(), 1,
                      kNumberStrategy);
    int count = 0;
    while (const auto steps = search.Next(kNotTried)) {
      const double speed = gains && count == 0 ? 100 : 0.5;
      search.Know({*steps, speed, {}, Failure::kWrong}, false);
      ++count;
    }
    return count;
  };
  EXPECT_EQ(asked(true), asked(false) + 1);
}

// A launch of one dimension: each y but 1 is declined.
TEST(StepSearch, WhatOnlyFailedWhenItWasMovedStaysAsItIs) {
  std::vector<StepSearch::Result> known;
  for (const std::int64_t x : {16, 32, 64, 128, 256, 512, 1024, 8}) {
    known.push_back(ResultOf(x, 1));
  }
  known.push_back({Blocks(128, 2), std::nullopt, {}, Failure::kWrong});
  StepSearch search(Blocks(128, 1), 1.2, Promising(), known, 1, kNumberStrategy);
  int asked = 0;
  while (const auto steps = search.Next(kNotTried)) {
    EXPECT_EQ((*steps)[0].parameters["y"], 1);
    const auto x = (*steps)[0].parameters["x"].get<std::int64_t>();
    search.Know(ResultOf(x, 1), false);
    ++asked;
  }
  EXPECT_EQ(asked, 3) << "1, 2 and 4";
}

TEST(StepSearch, OneSearchForStepsThatDifferInValuesOnly) {
  EXPECT_EQ(StepSearch::KeyOf(Blocks(1, 2)), StepSearch::KeyOf(Blocks(3, 4)));
  Steps other = Blocks(1, 2);
  other[0].parameters["z"] = 1;
  EXPECT_NE(StepSearch::KeyOf(other), StepSearch::KeyOf(Blocks(1, 2)));
  const auto guarded = [](const std::string& guard) {
    Steps steps = Blocks(1, 2);
    records::StrategyStep step;
    step.technique = kSizeClass;
    step.parameters = {{"guard", guard}};
    steps.push_back(step);
    return steps;
  };
  EXPECT_NE(StepSearch::KeyOf(guarded("n > 1")), StepSearch::KeyOf(guarded("n > 2")));
}

SearchInput InputOfBlocks() {
  SearchInput input;
  input.kernel = "blur";
  input.opinions = Promising();
  input.opinions[0].parameters = {{{"x", 32}, {"y", 32}},
                                  {{"x", 64}, {"y", 16}},
                                  {{"x", 16}, {"y", 64}},
                                  {{"x", 256}, {"y", 4}}};
  return input;
}

Outcome Measure(const Candidate& candidate) {
  const Json& parameters = candidate.strategy.steps.at(0).parameters;
  Outcome outcome;
  outcome.speedup = 1.1 * SpeedOf(parameters["x"], parameters["y"]);
  outcome.kind = *outcome.speedup >= 1.02 ? Outcome::Kind::kAccepted : Outcome::Kind::kRejected;
  if (*outcome.speedup < 1.02) outcome.reason = "not_faster";
  return outcome;
}

TEST(KernelSearchOfSteps, ParametersOfTechniquesAreFoundByTheNumberSearch) {
  KernelSearch search(InputOfBlocks());
  while (const auto candidate = search.Next()) {
    search.Report(candidate->id, Measure(*candidate));
    ASSERT_LT(search.ideas().size(), 300u) << "it must end";
  }
  EXPECT_TRUE(search.Exhausted());
  ASSERT_NE(search.best(), nullptr);
  // By single steps it ends at 32 x 32, a speedup of 1.1.
  EXPECT_GE(*search.best()->outcome->speedup, 1.1 * SpeedOf(2, 2));
  EXPECT_GT(search.best()->candidate.parent, 0);
}

TEST(KernelSearchOfSteps, IsReplayedFromItsRecord) {
  KernelSearch search(InputOfBlocks());
  while (const auto candidate = search.Next()) {
    if (search.ideas().size() > 24) break;
    search.Report(candidate->id, Measure(*candidate));
  }
  const Json record = search.ToJson();
  auto replayed = KernelSearch::Replay(InputOfBlocks(), record);
  ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  EXPECT_EQ(replayed->ToJson(), record);
  EXPECT_EQ(replayed->Next()->strategy, search.Next()->strategy);
}

}  // namespace
}  // namespace cupilot::search
