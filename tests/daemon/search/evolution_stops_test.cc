// When an evolution ends, what it is not to blame for, and that it ends within its budgets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evolution_desk.h"
#include "evolution_world.h"

namespace cupilot::search::evolution {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EvolutionStops, ItsBudgetsAreNeverExceeded) {
  for (std::int64_t budget = 1; budget <= 24; ++budget) {
    Settings settings;
    settings.requests = budget;
    settings.evaluations = 25 - budget;
    settings.lines = 3;
    settings.ideas = 3;
    World world(5);
    Evolution evolution(world.InputOf(1), settings);
    RunToEnd(evolution, world);
    EXPECT_LE(evolution.requests(), settings.requests);
    EXPECT_LE(evolution.evaluations(), settings.evaluations);
    EXPECT_TRUE(evolution.stop() == StopReason::kRequests ||
                evolution.stop() == StopReason::kEvaluations)
        << Name(evolution.stop());
  }
}

TEST(EvolutionStops, StopsAtStagnation) {
  Settings settings;
  settings.stagnation_rounds = 3;
  settings.requests = 1000;
  settings.evaluations = 1000;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  int evaluations = 0;
  desk.On(TaskKind::kEvaluate, [&](const Task&) {
    // A gain in the first round, and a little more each time, which is none.
    return Result::Of(Verdict(1.5 + 0.0001 * ++evaluations));
  });
  desk.Run();
  EXPECT_EQ(evolution.stop(), StopReason::kStagnation);
  EXPECT_EQ(evolution.round(), 4);
  EXPECT_THAT(evolution.stop_detail(), HasSubstr("3 rounds"));
}

TEST(EvolutionStops, StopsWhereNothingNewIsNamed) {
  Settings settings;
  settings.failures_until_dropped = 1;
  settings.stagnation_rounds = 100;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kStrategist, [](const Task&) { return Result::Plans({OneStep("a")}); });
  desk.Run();
  EXPECT_EQ(evolution.stop(), StopReason::kNoIdeas);
  EXPECT_EQ(desk.Of(TaskKind::kStrategist).size(), 3U) << "once more after each without news";
  EXPECT_THAT(desk.Of(TaskKind::kStrategist)[1].failed, ElementsAre(FailedIdea{"a", "not_faster"}));
}

TEST(EvolutionStops, NobodyIsAskedForNewsAnyMoreWhereOldIdeasAreLeft) {
  Settings settings;
  settings.failures_until_dropped = 6;
  settings.stagnation_rounds = 100;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kStrategist, [](const Task&) { return Result::Plans({OneStep("a")}); });
  desk.Run();
  EXPECT_EQ(desk.Of(TaskKind::kStrategist).size(), 3U);
  EXPECT_EQ(desk.Of(TaskKind::kTranslate).size(), 6U);
  EXPECT_EQ(evolution.stop(), StopReason::kNoIdeas);
}

TEST(EvolutionStops, SilenceIsNotTheIdeasFaultAndEndsItWhenItLasts) {
  Evolution evolution(Plain());
  Desk desk(evolution);
  int asked = 0;
  desk.On(TaskKind::kTranslate, [&](const Task& task) {
    const std::string id = "v" + std::to_string(task.id);
    return ++asked <= 2 ? Result::Unanswered("down") : Result::Variant({id, id, 0});
  });
  desk.Run(8);
  EXPECT_FALSE(evolution.stopped());
  EXPECT_EQ(evolution.tree().at(1).failed, 0);
  EXPECT_EQ(evolution.tree().at(1).attempts, 1);
  EXPECT_TRUE(desk.Of(TaskKind::kTranslate).back().earlier.empty());

  Evolution silent(Plain());
  Desk none(silent);
  none.On(TaskKind::kStrategist, [](const Task&) { return Result::Unanswered("down"); });
  none.Run();
  EXPECT_EQ(silent.stop(), StopReason::kUnanswered);
  EXPECT_EQ(none.tasks.size(), 3U);
}

TEST(EvolutionStops, AFailedEnvironmentIsNotTheIdeasFaultAndEndsItWhenItLasts) {
  Evolution evolution(Plain());
  Desk desk(evolution);
  int asked = 0;
  desk.On(TaskKind::kEvaluate,
          [&](const Task&) { return Result::Of(++asked == 1 ? Evidence{} : Verdict(1.0)); });
  desk.Run(12);
  EXPECT_EQ(evolution.tree().at(1).failed, 0);
  const std::vector<Task> evaluated = desk.Of(TaskKind::kEvaluate);
  int again = 0;
  for (const Task& task : evaluated) again += task.variant == evaluated[0].variant ? 1 : 0;
  EXPECT_EQ(again, 2);

  Evolution broken(Plain());
  Desk none(broken);
  none.On(TaskKind::kEvaluate, [&](const Task&) { return Result::Of(Evidence{}); });
  none.Run();
  EXPECT_EQ(broken.stop(), StopReason::kEnvironment);
}

TEST(EvolutionStops, StopsWhenItIsTold) {
  Evolution evolution(Plain());
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate, [](const Task&) { return Result::Of(Verdict(1.5)); });
  desk.Run(6);  // one candidate was evaluated
  ASSERT_EQ(desk.tasks.back().kind, TaskKind::kEvaluate);
  evolution.Stop("the money is spent");
  EXPECT_EQ(evolution.Next().kind, Step::Kind::kStopped);
  EXPECT_EQ(evolution.stop(), StopReason::kTold);
  EXPECT_EQ(evolution.stop_detail(), "the money is spent");
  EXPECT_NEAR(evolution.best().log_gain, std::log(1.5), 1e-12) << "what is known is not lost";
  EXPECT_TRUE(evolution.Outstanding().empty());
}

}  // namespace
}  // namespace cupilot::search::evolution
