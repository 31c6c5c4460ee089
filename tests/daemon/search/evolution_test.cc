#include "search/evolution/evolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "evolution_desk.h"
#include "evolution_world.h"
#include "search/evolution/explain.h"

namespace cupilot::search::evolution {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StrategyEvolution, GoesFromAStrategistToAnAlignedMember) {
  Evolution evolution(Plain());
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate, [](const Task&) { return Result::Of(Verdict(1.5, 0.97)); });
  desk.Run();
  std::vector<std::string> kinds;
  for (const Task& task : desk.tasks) kinds.emplace_back(Name(task.kind));
  EXPECT_THAT(kinds, ElementsAre("strategist", "translate", "translate", "judge", "judge",
                                 "evaluate", "align", "evaluate", "align"));
  EXPECT_EQ(desk.tasks[0].bottleneck, "l2");
  EXPECT_EQ(desk.tasks[0].parents.size(), 1U);
  EXPECT_EQ(desk.tasks[1].parent.id, "") << "on the original";
  ASSERT_TRUE(desk.tasks[1].step.has_value());
  EXPECT_EQ(evolution.population().members().size(), 2U);
  EXPECT_EQ(evolution.requests(), 1 + 2 + 2 * 3 + 2);
  EXPECT_EQ(evolution.evaluations(), 2);
  EXPECT_EQ(evolution.stop(), StopReason::kNearFloor);
}

// The same tasks with the same ids, whatever the order in which results come and however many of
// them were pending first; and so the same end.
TEST(StrategyEvolution, TheOrderOfArrivalDoesNotMatter) {
  Settings settings;
  settings.lines = 5;
  settings.ideas = 5;
  settings.requests = 80;
  settings.epoch_rounds = 2;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    std::map<int, std::string> expected;
    std::vector<std::string> end;
    for (std::uint64_t order = 0; order <= 12; ++order) {
      World world(seed);
      Evolution evolution(world.InputOf(seed), settings);
      std::mt19937_64 random(order);
      std::map<int, std::string> tasks;
      std::vector<Task> open;
      bool reordered = false;
      while (!evolution.stopped()) {
        const bool ask = open.empty() || (order > 0 && Below(2, random) == 0);
        if (ask) {
          if (const auto task = evolution.Next().task) {
            EXPECT_TRUE(tasks.emplace(task->id, records::CompactJson(ToJson(*task))).second);
            open.push_back(*task);
            continue;
          }
          if (open.empty()) break;
        }
        const std::size_t i = order == 0 ? 0 : Below(open.size(), random);
        reordered = reordered || i > 0;
        if (order % 2 == 1 && Below(3, random) == 0) {
          EXPECT_TRUE(evolution.Report(open[i].id, Result::Pending()));
          continue;
        }
        EXPECT_TRUE(evolution.Report(open[i].id, world.Answer(open[i])));
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (order == 0) {
        expected = tasks;
        end = Explain(evolution);
        EXPECT_GT(tasks.size(), 60U);
      }
      EXPECT_TRUE(order == 0 || reordered);
      ASSERT_EQ(tasks, expected) << "seed " << seed << ", order " << order;
      ASSERT_EQ(Explain(evolution), end);
    }
  }
}

TEST(StrategyEvolution, ASeedDecides) {
  const auto tasks = [](std::uint64_t seed) {
    World world(3);
    Evolution evolution(world.InputOf(seed));
    Desk desk(evolution);
    for (const TaskKind kind : {TaskKind::kStrategist, TaskKind::kTranslate, TaskKind::kEvaluate,
                                TaskKind::kRevise, TaskKind::kAlign}) {
      desk.On(kind, [&](const Task& task) { return world.Answer(task); });
    }
    desk.Run();
    std::string all;
    for (const Task& task : desk.tasks) all += records::CompactJson(ToJson(task));
    return all;
  };
  EXPECT_EQ(tasks(1), tasks(1));
  EXPECT_NE(tasks(1), tasks(2));
}

TEST(StrategyEvolution, AtMostSoManyLinesAreUnderWay) {
  Settings settings;
  settings.lines = 3;
  settings.ideas = 6;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kStrategist, [](const Task&) {
    std::vector<Plan> plans;
    for (int i = 0; i < 6; ++i) plans.push_back(OneStep("t" + std::to_string(i)));
    return Result::Plans(plans);
  });
  desk.Run(1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(evolution.Next().kind, Step::Kind::kTask);
  EXPECT_EQ(evolution.Next().kind, Step::Kind::kWait);
  EXPECT_EQ(evolution.Outstanding().size(), 3U);
}

TEST(StrategyEvolution, APendingAnswerHoldsItsOwnLineOnly) {
  Settings settings;
  settings.votes = 0;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.Run(3);  // both are translated
  const Task first = *evolution.Next().task;
  const Task second = *evolution.Next().task;
  ASSERT_EQ(first.kind, TaskKind::kEvaluate);
  EXPECT_TRUE(evolution.Report(first.id, Result::Of(Wrong("build_failed"))));
  const Task revision = *evolution.Next().task;
  ASSERT_EQ(revision.kind, TaskKind::kRevise);
  EXPECT_TRUE(evolution.Report(revision.id, Result::Pending()));
  EXPECT_EQ(evolution.Next().kind, Step::Kind::kWait) << "the other line is under way";
  EXPECT_TRUE(evolution.Report(second.id, Result::Of(Verdict(1.5))));
  const Step other = evolution.Next();
  ASSERT_EQ(other.kind, Step::Kind::kTask) << "and goes on";
  EXPECT_EQ(other.task->kind, TaskKind::kRevise);
  EXPECT_TRUE(evolution.Report(other.task->id, Result::Pending()));
  EXPECT_EQ(evolution.Next().kind, Step::Kind::kPending) << "nothing else can be done";
  EXPECT_EQ(evolution.Outstanding().size(), 2U);
  EXPECT_TRUE(evolution.Report(revision.id, Result::Variant({"late", "late", 0})));
  EXPECT_EQ(evolution.Next().task->variant.id, "late");
}

TEST(StrategyEvolution, WhatIsNoResultOfAnOutstandingTaskIsIgnored) {
  Evolution evolution(Plain());
  const Task task = *evolution.Next().task;
  EXPECT_FALSE(evolution.Report(task.id + 7, Result::Plans({})));
  EXPECT_FALSE(evolution.Report(task.id, Result::Votes(3, 0)));
  EXPECT_FALSE(evolution.Report(task.id, Result::Of(Verdict(2))));
  EXPECT_TRUE(evolution.Report(task.id, Result::Plans({OneStep("a")})));
  EXPECT_FALSE(evolution.Report(task.id, Result::Plans({OneStep("b")}))) << "a second time";
}

TEST(StrategyEvolution, AVariantThatWasSeenIsNotEvaluatedAndItsTranslatorIsToldSo) {
  Evolution evolution(Plain());
  Desk desk(evolution);
  desk.On(TaskKind::kStrategist, [](const Task&) { return Result::Plans({OneStep("a")}); });
  int translations = 0;
  desk.On(TaskKind::kTranslate, [&](const Task&) {
    return Result::Variant({"copy", ++translations == 1 ? "original" : "new", 0});
  });
  desk.Run();
  const std::vector<Task> asked = desk.Of(TaskKind::kTranslate);
  ASSERT_GE(asked.size(), 2U);
  EXPECT_TRUE(asked[0].earlier.empty());
  ASSERT_EQ(asked[1].earlier.size(), 1U);
  EXPECT_EQ(asked[1].earlier[0].reason, kSeenBefore);
  EXPECT_EQ(asked[1].idea, asked[0].idea);
  EXPECT_EQ(desk.Of(TaskKind::kJudge).size(), 1U) << "nor is it judged";
  EXPECT_EQ(evolution.tree().at(1).variant->novelty_key, "new");
}

TEST(StrategyEvolution, OfTwoAlikeInOneWaveOneIsEvaluated) {
  Settings settings;
  settings.requests = 3;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kTranslate, [](const Task& task) {
    return Result::Variant({"v" + std::to_string(task.id), "same", 0});
  });
  desk.Run();
  EXPECT_EQ(desk.Of(TaskKind::kTranslate).size(), 2U);
  ASSERT_EQ(desk.Of(TaskKind::kEvaluate).size(), 1U);
  EXPECT_EQ(desk.Of(TaskKind::kEvaluate)[0].idea, 1);
  EXPECT_EQ(evolution.tree().at(2).failures.back().reason, kSeenBefore);
}

TEST(StrategyEvolution, ARevisionThatWasSeenIsAskedAgain) {
  Evolution evolution(Plain());
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate, [](const Task&) { return Result::Of(Wrong("build_failed")); });
  desk.On(TaskKind::kRevise, [](const Task& task) {
    return Result::Variant(
        {"copy", task.round == 1 ? "original" : "r" + std::to_string(task.id), 0});
  });
  desk.Run(20);
  const std::vector<Task> asked = desk.Of(TaskKind::kRevise);
  ASSERT_GE(asked.size(), 2U);
  EXPECT_EQ(asked[1].id, asked[0].id + 1) << "nothing is evaluated between";
  EXPECT_EQ(asked[1].variant, asked[0].variant);
  EXPECT_THAT(asked[1].earlier, ElementsAre(Failure{kSeenBefore, ""}));
}

TEST(StrategyEvolution, RevisesOneFindingAtATimeAtMostSoOften) {
  Settings settings;
  settings.revisions = 2;
  settings.lines = 1;
  settings.ideas = 1;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  int evaluations = 0;
  desk.On(TaskKind::kEvaluate, [&](const Task& task) {
    ++evaluations;
    return Result::Of(evaluations == 1 ? Wrong("build_failed", "line 3 of " + task.variant.id)
                                       : Wrong("wrong_values", "case 2"));
  });
  desk.Run(10);
  const std::vector<Task> asked = desk.Of(TaskKind::kRevise);
  ASSERT_GE(asked.size(), 2U);
  EXPECT_EQ(asked[0].finding.reason, "build_failed");
  EXPECT_THAT(asked[0].finding.detail, HasSubstr("line 3"));
  EXPECT_EQ(asked[0].round, 1);
  EXPECT_EQ(asked[1].finding.reason, "wrong_values");
  EXPECT_EQ(asked[1].round, 2);
  EXPECT_NE(asked[1].variant.id, asked[0].variant.id) << "what was revised is what is revised";
  EXPECT_GE(desk.Of(TaskKind::kEvaluate).size(), 3U);
  EXPECT_EQ(evolution.tree().at(1).failed, 1) << "all of it is one implementation";
  for (const Task& task : asked) EXPECT_LE(task.round, 2);
}

TEST(StrategyEvolution, WhatIsRightIsRevisedForSpeedAndTheBetterOneStays) {
  Settings settings;
  settings.lines = 1;
  settings.ideas = 1;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate,
          [](const Task& task) { return Result::Of(Verdict(task.id % 100 == 1 ? 1.6 : 1.2)); });
  desk.Run(7);
  ASSERT_EQ(desk.Of(TaskKind::kRevise).size(), 1U);
  EXPECT_EQ(desk.Of(TaskKind::kRevise)[0].finding.bound, "dram");
  ASSERT_EQ(desk.Of(TaskKind::kAlign).size(), 1U);
  const std::string first = desk.Of(TaskKind::kEvaluate)[0].variant.id;
  EXPECT_EQ(desk.Of(TaskKind::kAlign)[0].variant.id, first);
  evolution.Next();
  EXPECT_EQ(evolution.best().variant.id, first);
  EXPECT_NEAR(evolution.best().log_gain, std::log(1.6), 1e-12);
}

TEST(StrategyEvolution, NearItsFloorNothingIsRevisedForSpeed) {
  Evolution evolution(Plain());
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate, [](const Task&) { return Result::Of(Verdict(1.5, 0.96)); });
  desk.Run();
  EXPECT_EQ(desk.Of(TaskKind::kRevise).size(), 0U);
}

TEST(StrategyEvolution, JudgesOrderAndDropButNeverAccept) {
  Settings settings;
  settings.ideas = 3;
  settings.lines = 1;
  settings.requests = 1 + 3 + 9;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kStrategist, [](const Task&) {
    return Result::Plans({OneStep("a", 2.0), OneStep("b", 1.5), OneStep("c", 1.2)});
  });
  desk.On(TaskKind::kJudge, [](const Task& task) {
    EXPECT_EQ(task.votes, 3);
    if (task.step->technique == "a") return Result::Votes(1, 2);
    return task.step->technique == "b" ? Result::Votes(2, 1) : Result::Votes(3, 0);
  });
  desk.On(TaskKind::kEvaluate, [](const Task&) { return Result::Of(Wrong("wrong_values")); });
  desk.Run();
  std::vector<std::string> evaluated;
  for (const Task& task : desk.Of(TaskKind::kEvaluate)) evaluated.push_back(task.step->technique);
  EXPECT_THAT(evaluated, ElementsAre("c", "b"));
  EXPECT_EQ(evolution.tree().at(1).failures.back().reason, kJudgedOther);
  EXPECT_TRUE(evolution.population().members().empty()) << "all votes make nothing accepted";
}

TEST(StrategyEvolution, AFewVotesAgainstDropNothing) {
  Settings settings;
  settings.votes = 5;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kJudge, [](const Task&) { return Result::Votes(2, 3); });
  desk.Run(12);
  EXPECT_GE(desk.Of(TaskKind::kEvaluate).size(), 2U);
}

TEST(StrategyEvolution, WithoutVotesNobodyIsAsked) {
  Settings settings;
  settings.votes = 0;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.Run();
  EXPECT_EQ(desk.Of(TaskKind::kJudge).size(), 0U);
  EXPECT_GT(desk.Of(TaskKind::kEvaluate).size(), 0U);
}

TEST(StrategyEvolution, ATaskSaysHowManyEvaluationsItsTunablesMayUse) {
  Settings settings;
  settings.evaluations = 30;
  settings.tuning_evaluations = 20;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kTranslate, [](const Task& task) {
    const std::string id = "v" + std::to_string(task.id);
    return Result::Variant({id, id, task.idea == 1 ? 2 : 0});
  });
  desk.On(TaskKind::kEvaluate,
          [](const Task& task) { return Result::Of(Verdict(1.0), task.evaluations); });
  desk.Run();
  const std::vector<Task> asked = desk.Of(TaskKind::kEvaluate);
  ASSERT_GE(asked.size(), 2U);
  EXPECT_EQ(asked[0].evaluations, 15) << "half of what is left, since two are under way";
  EXPECT_EQ(asked[1].evaluations, 1) << "it declares none";
  EXPECT_LE(evolution.evaluations(), 30);
}

TEST(StrategyEvolution, WhatWasMeasuredIsWhatIsRevisedAndBecomesTheMember) {
  Settings settings;
  settings.votes = 0;
  settings.lines = 1;
  settings.ideas = 1;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate, [](const Task& task) {
    Result result = Result::Of(Verdict(1.5), 3);
    result.variant = {"tuned-" + task.variant.id, "", 2};
    return result;
  });
  desk.Run(6);
  ASSERT_EQ(desk.Of(TaskKind::kRevise).size(), 1U);
  EXPECT_THAT(desk.Of(TaskKind::kRevise)[0].variant.id, HasSubstr("tuned-"));
  evolution.Next();
  EXPECT_THAT(evolution.best().variant.id, HasSubstr("tuned-"));
  EXPECT_NE(evolution.best().variant.novelty_key, "");
  EXPECT_EQ(evolution.evaluations(), 6);
}

TEST(StrategyEvolution, GivenMembersAreParentsAndBasesFromTheStart) {
  Input input = Plain();
  Individual member;
  member.variant = {"mechanical", "mechanical", 0};
  member.strategy = OneStep("block_size").strategy;
  member.log_gain = 0.5;
  member.bound = "dram";
  input.given.push_back(member);
  Evolution evolution(input);
  Desk desk(evolution);
  desk.On(TaskKind::kStrategist, [](const Task& task) {
    EXPECT_EQ(task.parents[0].variant.id, "mechanical");
    EXPECT_EQ(task.bottleneck, "dram");
    Plan plan = OneStep("block_size");
    plan.strategy.steps.push_back(OneStep("tiling").strategy.steps[0]);
    return Result::Plans({plan});
  });
  desk.Run(2);
  EXPECT_EQ(desk.tasks[1].parent.id, "mechanical");
  EXPECT_EQ(desk.tasks[1].step->technique, "tiling");
  EXPECT_EQ(desk.tasks[1].strategy.steps.size(), 2U);
}

TEST(StrategyEvolution, SeedsOfThePoolComeFirst) {
  Input input = Plain();
  input.seeds = {OneStep("a"), OneStep("b")};
  Evolution evolution(input);
  EXPECT_EQ(evolution.Next().task->kind, TaskKind::kTranslate);
  Settings settings;
  settings.pool = false;
  Evolution without(input, settings);
  const Task first = *without.Next().task;
  EXPECT_EQ(first.kind, TaskKind::kStrategist);
  EXPECT_FALSE(first.pool);
}

TEST(StrategyEvolution, PriorsOfThePoolOrderIdeas) {
  Input input = Plain();
  input.seeds = {OneStep("a", 1.5), OneStep("b", 1.4)};
  input.priors["a"] = {std::log(1.05), 4};
  Evolution evolution(input);
  EXPECT_EQ(evolution.Next().task->step->technique, "b");
  Settings settings;
  settings.pool = false;
  Evolution without(input, settings);
  Desk desk(without);
  desk.On(TaskKind::kStrategist,
          [&](const Task&) { return Result::Plans({OneStep("a", 1.5), OneStep("b", 1.4)}); });
  desk.Run(2);
  EXPECT_EQ(desk.tasks[1].step->technique, "a");
}

TEST(StrategyEvolution, WhatDoesSomethingElseStandsAsWhatItDoes) {
  Settings settings;
  settings.lines = 1;
  settings.ideas = 1;
  settings.slow_revisions = 0;
  settings.votes = 0;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate, [](const Task&) { return Result::Of(Verdict(1.5)); });
  desk.On(TaskKind::kAlign, [](const Task&) { return Result::Aligned(OneStep("other").strategy); });
  desk.Run(4);
  evolution.Next();
  EXPECT_EQ(evolution.tree().at(1).failures.back().reason, kNotDone);
  EXPECT_EQ(evolution.tree().at(1).state, Node::State::kOpen);
  ASSERT_EQ(evolution.population().members().size(), 1U);
  const Individual& member = evolution.population().members()[0];
  EXPECT_EQ(TechniquesOf(member.strategy), "other");
  EXPECT_EQ(TechniquesOf(evolution.tree().at(member.idea).strategy), "other");
}

TEST(StrategyEvolution, WithoutStrategiesTheTranslatorIsAskedToImprove) {
  Settings settings;
  settings.strategies = false;
  Input input = Plain();
  Individual member;
  member.variant = {"mechanical", "mechanical", 0};
  member.strategy = OneStep("block_size").strategy;
  member.log_gain = 0.1;
  input.given.push_back(member);
  Evolution evolution(input, settings);
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate, [](const Task&) { return Result::Of(Verdict(1.5)); });
  desk.Run();
  EXPECT_EQ(desk.Of(TaskKind::kStrategist).size(), 0U);
  EXPECT_EQ(desk.Of(TaskKind::kAlign).size(), 0U);
  ASSERT_GT(desk.Of(TaskKind::kTranslate).size(), 4U);
  for (const Task& task : desk.Of(TaskKind::kTranslate)) {
    EXPECT_TRUE(task.strategy.steps.empty());
    EXPECT_TRUE(task.parent_strategy.steps.empty());
    EXPECT_FALSE(task.step.has_value());
  }
  EXPECT_EQ(desk.Of(TaskKind::kTranslate).front().parent.id, "mechanical");
  EXPECT_NE(desk.Of(TaskKind::kTranslate).back().parent.id, "mechanical")
      << "what won is improved further";
}

TEST(StrategyEvolution, WithoutARooflineNoBottleneckIsNamed) {
  Settings settings;
  settings.roofline = false;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate, [](const Task&) { return Result::Of(Verdict(1.5)); });
  desk.Run();
  for (const Task& task : desk.tasks) EXPECT_EQ(task.bottleneck, "");
  EXPECT_EQ(desk.Of(TaskKind::kRevise).size(), 0U);
}

TEST(StrategyEvolution, AnEpochBeginsWithTheBestOfTheLast) {
  Settings settings;
  settings.epoch_rounds = 1;
  settings.epoch_parents = 1;
  settings.crossover = false;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kEvaluate,
          [](const Task& task) { return Result::Of(Verdict(task.idea == 2 ? 1.9 : 1.3)); });
  int asked = 0;
  desk.On(TaskKind::kStrategist, [&](const Task& task) {
    if (++asked == 2) {
      EXPECT_EQ(task.parents[0].idea, 2);
    }
    const std::string id = std::to_string(task.id);
    return Result::Plans({OneStep("a" + id), OneStep("b" + id)});
  });
  desk.Run(30);
  EXPECT_GE(asked, 2);
  EXPECT_GE(evolution.epoch(), 2);
}

TEST(StrategyEvolution, DetailsAreCut) {
  Settings settings;
  settings.votes = 0;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  const std::string log = std::string(kDetailBytes - 1, 'x') + "\xc3\xa9" + "more";
  desk.On(TaskKind::kEvaluate, [&](const Task&) { return Result::Of(Wrong("build_failed", log)); });
  desk.Run(6);
  ASSERT_GE(desk.Of(TaskKind::kRevise).size(), 1U);
  EXPECT_EQ(desk.Of(TaskKind::kRevise)[0].finding.detail, std::string(kDetailBytes - 1, 'x'))
      << "no character is cut in two";
}

TEST(StrategyEvolution, IsExplained) {
  Settings settings;
  settings.failures_until_dropped = 1;
  settings.votes = 0;
  settings.slow_revisions = 0;
  Evolution evolution(Plain(), settings);
  Desk desk(evolution);
  desk.On(TaskKind::kStrategist,
          [](const Task&) { return Result::Plans({OneStep("a", 1.4), OneStep("b", 1.3)}); });
  desk.On(TaskKind::kEvaluate, [](const Task& task) {
    return Result::Of(task.idea == 1 ? Verdict(1.5) : Verdict(0.9));
  });
  desk.Run();
  const std::vector<std::string> lines = Explain(evolution);
  EXPECT_THAT(lines[0], HasSubstr("1.50x"));
  EXPECT_THAT(lines[1], HasSubstr("stopped (no_ideas)"));
  EXPECT_EQ(lines[2],
            "1: a, expected 1.40x, difficulty 3, measured 1.50x (1.50x in all), 1 attempt, done");
  EXPECT_EQ(lines[3],
            "2: b, expected 1.30x, difficulty 3, measured 0.90x (0.90x in all), 1 attempt, "
            "dropped: 1 failed, the last: not_faster");
  const std::vector<IdeaView> ideas = IdeasOf(evolution);
  ASSERT_EQ(ideas.size(), 2U);
  EXPECT_NEAR(*ideas[0].measured, 1.5, 1e-9);
}

}  // namespace
}  // namespace cupilot::search::evolution
