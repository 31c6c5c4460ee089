// The record of an evolution, and the evolution that comes of it again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evolution_desk.h"
#include "evolution_world.h"
#include "search/evolution/explain.h"

namespace cupilot::search::evolution {
namespace {

TEST(EvolutionRecord, ReplaysFromItsRecordAtAnyPoint) {
  World world(2);
  const Input input = world.InputOf(9);
  Settings settings;
  settings.requests = 40;
  Evolution evolution(input, settings);
  for (int i = 0; !evolution.stopped(); ++i) {
    const auto task = evolution.Next().task;
    if (task && i % 5 == 0) evolution.Report(task->id, Result::Pending());
    // One is outstanding, and stays so.
    const auto again = Evolution::Replay(input, settings, evolution.ToJson());
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->ToJson(), evolution.ToJson());
    EXPECT_EQ(Explain(*again), Explain(evolution));
    ASSERT_EQ(again->Outstanding().size(), evolution.Outstanding().size());
    if (i == 20) evolution = *again;  // and it goes on from there
    if (task) evolution.Report(task->id, world.Answer(*task));
  }
  EXPECT_EQ(evolution.stop(), StopReason::kRequests);
}

TEST(EvolutionRecord, AStopFromOutsideReplays) {
  Evolution evolution(Plain());
  Desk desk(evolution);
  desk.Run(4);
  evolution.Stop("enough");
  const auto again = Evolution::Replay(Plain(), {}, evolution.ToJson());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->stop(), StopReason::kTold);
  EXPECT_EQ(again->stop_detail(), "enough");
}

TEST(EvolutionRecord, ARecordOfSomethingElseIsCorrupt) {
  World world(2);
  const Input input = world.InputOf(9);
  Evolution evolution(input);
  RunToEnd(evolution, world);
  const records::Json record = evolution.ToJson();
  EXPECT_TRUE(Evolution::Replay(input, {}, record).has_value());

  Input other = input;
  other.seed = 10;
  EXPECT_FALSE(Evolution::Replay(other, {}, record).has_value());
  Settings settings;
  settings.lines = 3;
  EXPECT_FALSE(Evolution::Replay(input, settings, record).has_value());

  records::Json changed = record;
  for (records::Json& event : changed["events"]) {
    if (event.contains("result") && event["result"]["kind"] == "evidence" &&
        event["result"]["evidence"].contains("speedup")) {
      event["result"]["evidence"]["speedup"] = 7.5;
      break;
    }
  }
  ASSERT_NE(changed, record);
  const auto replayed = Evolution::Replay(input, {}, changed);
  ASSERT_FALSE(replayed.has_value());
  EXPECT_EQ(replayed.error().code, base::ErrorCode::kCorruption);

  changed = record;
  changed["events"].erase(changed["events"].size() / 2);
  EXPECT_FALSE(Evolution::Replay(input, {}, changed).has_value());
  EXPECT_FALSE(Evolution::Replay(input, {}, records::Json::array()).has_value());
}

}  // namespace
}  // namespace cupilot::search::evolution
