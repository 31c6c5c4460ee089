#include "search/evolution/idea_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "search/number_space.h"

namespace cupilot::search::evolution {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Plan PlanOf(const std::vector<std::string>& techniques, double gain = 1.5, int difficulty = 3) {
  Plan plan;
  for (const std::string& technique : techniques) {
    records::StrategyStep step;
    step.technique = technique;
    step.expected_gain = gain;
    plan.strategy.steps.push_back(step);
    plan.difficulties.push_back(difficulty);
  }
  return plan;
}

IdeaTree TreeOf(const Settings& settings = {}) {
  IdeaTree tree(settings);
  tree.AddGiven(Individual{});
  return tree;
}

Evidence Accepted(double speedup) {
  Evidence evidence;
  evidence.kind = Evidence::Kind::kAccepted;
  evidence.speedup = speedup;
  return evidence;
}

Evidence NotFaster(double speedup) {
  Evidence evidence;
  evidence.kind = Evidence::Kind::kRejected;
  evidence.reason = "not_faster";
  evidence.speedup = speedup;
  return evidence;
}

VariantFacts Facts(const std::string& id) { return {id, id, 0}; }

void Try(IdeaTree& tree, int id, const Evidence& evidence) {
  tree.Begin(id);
  tree.Measured(id, Facts("v" + std::to_string(id)), evidence);
}

TEST(IdeaTree, EachIdeaIsOneStepMoreThanItsParent) {
  IdeaTree tree = TreeOf();
  EXPECT_EQ(tree.AddPlan(PlanOf({"tiling", "padding", "unrolling"}), {0}), 3);
  ASSERT_EQ(tree.nodes().size(), 4U);
  for (int id = 1; id <= 3; ++id) {
    EXPECT_EQ(tree.at(id).parent, id - 1);
    EXPECT_EQ(tree.at(id).strategy.steps.size(), static_cast<std::size_t>(id));
  }
  EXPECT_THAT(tree.Next(), ElementsAre(1)) << "the others wait for what they are built on";
  Try(tree, 1, Accepted(1.3));
  EXPECT_THAT(tree.Next(), ElementsAre(2));
}

TEST(IdeaTree, BuildsOnWhatHasMostOfTheSteps) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"tiling"}), {0});
  tree.AddPlan(PlanOf({"padding"}), {0});
  Try(tree, 1, Accepted(1.5));
  Try(tree, 2, Accepted(1.2));
  // A crossing of both: the better one is the parent, the other's technique the step.
  EXPECT_EQ(tree.AddPlan(PlanOf({"padding", "tiling"}), {1, 2}), 1);
  EXPECT_EQ(tree.at(3).parent, 1);
  EXPECT_EQ(tree.at(3).step->technique, "padding");
  EXPECT_EQ(tree.AddPlan(PlanOf({"tiling", "padding"}), {1, 2}), 0) << "known";
}

TEST(IdeaTree, BuildsOnValuesOfTunablesThatNobodyNames) {
  IdeaTree tree = TreeOf();
  Individual tuned;
  tuned.variant = Facts("tuned");
  tuned.strategy = PlanOf({kTunablesStep}).strategy;
  tuned.log_gain = 0.4;
  tree.AddGiven(tuned);
  tree.AddPlan(PlanOf({"tiling"}), {1});
  EXPECT_EQ(tree.at(2).parent, 1);
  EXPECT_EQ(tree.at(2).strategy.steps.size(), 2U);
}

TEST(IdeaTree, OtherParametersOfTheSameTechniqueAreAStep) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"tiling"}), {0});
  Try(tree, 1, Accepted(1.5));
  Plan wider = PlanOf({"tiling"});
  wider.strategy.steps[0].parameters["x"] = 64;
  EXPECT_EQ(tree.AddPlan(wider, {1}), 1);
  EXPECT_EQ(tree.at(2).parent, 1);
  EXPECT_EQ(tree.at(2).strategy.steps.size(), 1U);
  EXPECT_EQ(tree.AddPlan(wider, {1}), 0);
}

TEST(IdeaTree, PromiseFollowsTheRule) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"a"}, 1.5, 1), {0});
  tree.AddPlan(PlanOf({"b"}, 1.5, 4), {0});
  tree.AddPlan(PlanOf({"c"}, 9.0, 1), {0});
  EXPECT_NEAR(tree.Promise(1), std::log(1.5), 1e-12);
  EXPECT_NEAR(tree.Promise(2), std::log(1.5) * std::pow(0.85, 3), 1e-12);
  EXPECT_NEAR(tree.Promise(3), std::log(4.0), 1e-12) << "hints are clamped";
  EXPECT_THAT(tree.Next(), ElementsAre(3, 1, 2));
  tree.Begin(3);
  tree.Fail(3, {"build_failed", ""});
  tree.Begin(3);
  tree.Fail(3, {"build_failed", ""});
  EXPECT_NEAR(tree.Promise(3), std::log(4.0) / 4, 1e-12);
  EXPECT_THAT(tree.Next(), ElementsAre(1, 3, 2));
  EXPECT_EQ(tree.Above(0.34), 2);
}

TEST(IdeaTree, PromiseHoldsWhatTheParentGained) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"a", "b"}, 1.2, 1), {0});
  tree.AddPlan(PlanOf({"c"}, 1.5, 1), {0});
  Try(tree, 1, Accepted(2.0));
  EXPECT_NEAR(tree.Promise(2), std::log(2.0) + std::log(1.2), 1e-12);
  EXPECT_THAT(tree.Next(), ElementsAre(2, 3));
}

TEST(IdeaTree, TheHardestWait) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"a"}, 4.0, 5), {0});
  tree.AddPlan(PlanOf({"b"}, 1.05, 4), {0});
  EXPECT_GT(tree.Promise(1), tree.Promise(2));
  EXPECT_THAT(tree.Next(), ElementsAre(2, 1));
}

TEST(IdeaTree, WhatWasMeasuredOutweighsHints) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"a"}, 2.0, 1), {0});
  tree.AddPlan(PlanOf({"b"}, 1.4, 1), {0});
  Try(tree, 1, Accepted(1.1));
  Try(tree, 2, Accepted(1.4));
  tree.AddPlan(PlanOf({"a", "b"}, 2.0, 1), {2});  // a, on what b gained
  ASSERT_EQ(tree.at(3).step->technique, "a");
  EXPECT_NEAR(tree.Promise(3), std::log(1.4) + (std::log(2.0) + std::log(1.1)) / 2, 1e-12);
}

TEST(IdeaTree, WhatWasMeasuredOnOtherKernelsOutweighsHints) {
  IdeaTree tree(Settings{}, {{"a", {std::log(1.1), 3}}});
  tree.AddGiven(Individual{});
  tree.AddPlan(PlanOf({"a"}, 2.0, 1), {0});
  EXPECT_NEAR(tree.Promise(1), (std::log(2.0) + 3 * std::log(1.1)) / 4, 1e-12);
}

TEST(IdeaTree, AnIdeaIsDroppedAfterSeveralFailuresOnly) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"a"}, 1.5, 1), {0});
  Try(tree, 1, Accepted(1.5));
  tree.AddPlan(PlanOf({"a", "b"}), {1});
  const double parent = tree.Promise(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(tree.at(2).state, Node::State::kOpen) << i;
    tree.Begin(2);
    tree.Fail(2, {"wrong_values", ""});
  }
  EXPECT_EQ(tree.at(2).state, Node::State::kDropped);
  EXPECT_EQ(tree.at(2).attempts, 3);
  EXPECT_THAT(tree.at(2).dropped, HasSubstr("wrong_values"));
  EXPECT_EQ(tree.Promise(1), parent) << "its failures are not its parent's";
  EXPECT_EQ(tree.at(1).failed, 0);
  ASSERT_EQ(tree.FailedIdeas(8).size(), 1U);
  EXPECT_EQ(tree.FailedIdeas(8)[0].reason, "wrong_values");
  EXPECT_EQ(tree.FailedIdeas(0).size(), 0U);
  EXPECT_EQ(tree.AddPlan(PlanOf({"a", "b"}), {1}), 0) << "it does not come again";
}

TEST(IdeaTree, WhatWaitedForADroppedIdeaIsTriedWithoutIt) {
  Settings settings;
  settings.failures_until_dropped = 1;
  IdeaTree tree = TreeOf(settings);
  tree.AddPlan(PlanOf({"a", "b", "c"}), {0});
  tree.Begin(1);
  tree.Fail(1, {"build_failed", ""});
  EXPECT_THAT(tree.Next(), ElementsAre(2));
  EXPECT_EQ(tree.at(2).parent, 0);
  EXPECT_EQ(TechniquesOf(tree.at(2).strategy), "b");
  EXPECT_EQ(TechniquesOf(tree.at(3).strategy), "b+c");
}

TEST(IdeaTree, OfTwoThatBecomeTheSameOneStays) {
  Settings settings;
  settings.failures_until_dropped = 1;
  IdeaTree tree = TreeOf(settings);
  tree.AddPlan(PlanOf({"b"}), {0});
  tree.AddPlan(PlanOf({"a", "c", "b"}), {0});  // 2: a, 3: a c, 4: a c b
  tree.Begin(2);
  tree.Fail(2, {"build_failed", ""});  // 3: c, 4: c b
  tree.Begin(3);
  tree.Fail(3, {"build_failed", ""});  // 4: b, which is 1
  EXPECT_EQ(tree.at(4).state, Node::State::kDropped);
  EXPECT_THAT(tree.at(4).dropped, HasSubstr("idea 1"));
  EXPECT_THAT(tree.Next(), ElementsAre(1));
}

TEST(IdeaTree, WhatIsRightButNoFasterIsSomethingToBuildOn) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"a", "b"}), {0});
  tree.Begin(1);
  EXPECT_FALSE(tree.Measured(1, Facts("slow"), NotFaster(0.9)));
  EXPECT_EQ(tree.at(1).failed, 1);
  EXPECT_EQ(tree.at(1).state, Node::State::kOpen);
  ASSERT_TRUE(tree.at(1).variant.has_value());
  EXPECT_EQ(tree.at(1).variant->id, "slow");
  EXPECT_EQ(tree.Next().size(), 2U) << "again, or the next step on it";
  tree.Begin(2);
  EXPECT_TRUE(tree.Measured(2, Facts("both"), Accepted(1.6))) << "only together they gain";
}

TEST(IdeaTree, WhatIsAcceptedButNoFasterThanItsParentHasNotGained) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"a", "b"}), {0});
  Try(tree, 1, Accepted(2.0));
  tree.Begin(2);
  EXPECT_FALSE(tree.Measured(2, Facts("both"), Accepted(2.01)));
  EXPECT_EQ(tree.at(2).failures.back().reason, kNoGain);
}

TEST(IdeaTree, AlignmentChangesWhatIsBuiltOnIt) {
  IdeaTree tree = TreeOf();
  tree.AddPlan(PlanOf({"a", "b"}), {0});
  Try(tree, 1, Accepted(2.0));
  EXPECT_FALSE(tree.Does(1, PlanOf({"z"}).strategy));
  ASSERT_TRUE(tree.Does(1, PlanOf({"a", "z"}).strategy));
  tree.Align(1, PlanOf({"a", "z"}).strategy);
  EXPECT_EQ(TechniquesOf(tree.at(2).strategy), "a+b+z");
}

TEST(IdeaTree, WithoutATreeAStrategyIsOneIdeaWithOneAttemptInTheOrderOfItsComing) {
  Settings settings;
  settings.tree = false;
  IdeaTree tree = TreeOf(settings);
  EXPECT_EQ(tree.AddPlan(PlanOf({"a", "b", "c"}, 1.01), {0}), 1);
  EXPECT_EQ(tree.AddPlan(PlanOf({"d"}, 4.0, 1), {0}), 1);
  EXPECT_THAT(tree.Next(), ElementsAre(1, 2));
  EXPECT_FALSE(tree.at(1).step.has_value());
  tree.Begin(1);
  tree.Fail(1, {"build_failed", ""});
  EXPECT_EQ(tree.at(1).state, Node::State::kDropped);
}

TEST(IdeaTree, StepsWithoutANameOrTwiceAreLeftOut) {
  IdeaTree tree = TreeOf();
  EXPECT_EQ(tree.AddPlan(PlanOf({"", "a", "a"}), {0}), 1);
  EXPECT_EQ(tree.AddPlan(PlanOf({""}), {0}), 0);
  EXPECT_EQ(tree.AddPlan(Plan{}, {0}), 0);
}

}  // namespace
}  // namespace cupilot::search::evolution
