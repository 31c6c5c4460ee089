// What is kept, dropped, carried away and brought in: prune, forget, export, import.
#include "service/storage_documents.h"

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "cache/keys.h"
#include "cache/record.h"
#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"
#include "tests/support/running_build.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class StorageTest : public ServiceTest {
 protected:
  StorageTest() {
    settings_.store_days = 0;
    settings_.store_bytes = 0;
    judge_ = [](const evaluate::EvaluateRequest& request) {
      const auto& steps = request.variant.strategy->steps;
      return test::MakeEvaluation(request, steps.size() > 1                        ? 0.9
                                           : steps[0].technique == "launch_bounds" ? 1.5
                                                                                   : 1.2);
    };
  }
  void Tune() {
    Prepare("kernel one a\n");
    Start();
    Drain();
  }
  Json Ask(const std::string& verb, const Json& params) {
    Requests requests(*service_, state(), [] {});
    const Json message = {{"id", 1}, {"verb", verb}, {"params", params}};
    return records::ParseJson(requests.Handle("peer", message.dump())).value_or(Json());
  }
  std::string CodeOf(const Json& reply) {
    return reply.contains("error") ? reply["error"]["code"].get<std::string>() : "done";
  }
  std::size_t Count(Table table, const std::string& prefix = "") {
    std::size_t count = 0;
    EXPECT_TRUE(store_.Scan(table, prefix, [&](std::string_view, std::string_view) {
      ++count;
      return true;
    }));
    return count;
  }
  std::string Published() {
    const auto variants = project_.PublishedVariants();
    return variants.size() == 1 ? variants[0] : "";
  }
  // Evidence of a kernel that no source has any more, of a day.
  void AddOld(const std::string& kernel_key, const std::string& date) {
    Json evaluation;
    const Json history = Ask("history", {{"kernel", "one"}})["result"];
    evaluation = history["evaluations"][0];
    evaluation["kernel_key"] = kernel_key;
    evaluation["date"] = date;
    const auto parsed = records::ParseEvaluation(evaluation);
    ASSERT_TRUE(parsed);
    ASSERT_TRUE(store_.Apply(
        {{Table::kEvaluations, cache::EvaluationKey(*parsed), cache::Seal(evaluation)},
         {Table::kVariants, cache::VariantKey(kernel_key, parsed->variant), cache::Seal("v")},
         {Table::kKernels, kernel_key, cache::Seal({{"name", "gone::" + kernel_key}})},
         {Table::kCounters, "job/" + kernel_key + "/w/close/p/1", cache::Seal(Json::object())}}));
  }
  Json Export(const Json& params) {
    const Json reply = Ask("export", params)["result"];
    const auto text = base::ReadFile(records::TextAt(reply, "document"));
    EXPECT_TRUE(text) << reply.dump();
    return text ? records::ParseJson(*text).value_or(Json()) : Json();
  }
};

TEST_F(StorageTest, PruneByAgeDropsWhatIsOldAndNotInUse) {
  Tune();
  AddOld("gone1", "2001-01-01T00:00:00Z");
  const std::size_t evaluations = Count(Table::kEvaluations);
  const double ten_years = 10.0 * 365 * 86400;
  const Json asked = {{"older_seconds", ten_years}};
  Json dry = asked;
  dry["dry_run"] = true;
  const Json would = Ask("prune", dry)["result"];
  EXPECT_EQ(would["schema"], "cupilot.pruned/1");
  EXPECT_EQ(would["evaluations"], 1);
  EXPECT_EQ(Count(Table::kEvaluations), evaluations) << "a dry run";
  const Json done = Ask("prune", asked)["result"];
  EXPECT_EQ(done["evaluations"], 1);
  EXPECT_EQ(done["variants"], 1);
  EXPECT_EQ(done["jobs"], 1);
  EXPECT_EQ(done["kernels"][0]["kernel"], "gone::gone1");
  EXPECT_EQ(done["kernels"][0]["whole"], true);
  EXPECT_LT(done["bytes_after"], done["bytes_before"]);
  EXPECT_EQ(Count(Table::kEvaluations), evaluations - 1);
  EXPECT_EQ(Count(Table::kKernels, "gone1"), 0u);
  EXPECT_EQ(Count(Table::kCounters, "job/gone1"), 0u);
  EXPECT_EQ(Ask("prune", asked)["result"]["evaluations"], 0);
}

TEST_F(StorageTest, PruneNeverDropsWhatIsInUsePinnedOrRejected) {
  Tune();
  const std::string best = Published();
  std::string other;
  const Json before = Ask("history", {{"kernel", "one"}})["result"];
  for (const Json& one : before["evaluations"]) {
    if (one["verdict"] == "accepted" && one["variant"] != best) other = one["variant"];
  }
  ASSERT_THAT(other, Not(IsEmpty()));
  Ask("reject", {{"what", other}});
  Drain();
  // As small as it gets.
  const Json done = Ask("prune", {{"max_bytes", 0}})["result"];
  EXPECT_GT(done["evaluations"], 0);
  std::set<std::string> left;
  const Json after = Ask("history", {{"kernel", "one"}})["result"];
  for (const Json& one : after["evaluations"]) {
    left.insert(one["variant"].get<std::string>());
  }
  EXPECT_EQ(left, (std::set<std::string>{best, other}));
  // The choice is what it was, also for a later daemon.
  Restart();
  Drain();
  EXPECT_EQ(Published(), best);
}

TEST_F(StorageTest, PruneBySizeDropsTheOldestFirst) {
  Tune();
  AddOld("gone1", "2001-01-01T00:00:00Z");
  AddOld("gone2", "2002-01-01T00:00:00Z");
  const Json now = Ask("prune", {{"max_bytes", 1e12}})["result"];
  EXPECT_EQ(now["evaluations"], 0);
  Ask("prune", {{"max_bytes", now["bytes_before"].get<double>() - 1}});
  EXPECT_EQ(Count(Table::kEvaluations, "gone1"), 0u);
  EXPECT_EQ(Count(Table::kEvaluations, "gone2"), 1u);
}

TEST_F(StorageTest, PruneRefusesWhatIsNoLimit) {
  Tune();
  EXPECT_EQ(CodeOf(Ask("prune", {{"older_seconds", -1}})), "invalid_argument");
  EXPECT_EQ(CodeOf(Ask("prune", {{"max_bytes", "much"}})), "invalid_argument");
}

TEST_F(StorageTest, PruneWaitsUntilTheSourcesAreRead) {
  Prepare("kernel one a\n");
  Start();
  EXPECT_EQ(CodeOf(Ask("prune", Json::object())), "unavailable");
}

TEST_F(StorageTest, TheDaemonKeepsTheLimitsOfTheSettings) {
  Tune();
  AddOld("gone1", "2001-01-01T00:00:00Z");
  settings_.store_days = 3650;
  Restart();
  Drain();
  EXPECT_EQ(Count(Table::kEvaluations, "gone1"), 0u);
  EXPECT_THAT(Published(), Not(IsEmpty()));
}

TEST_F(StorageTest, ForgetDropsTheProjectAndItsBuildsGoBack) {
  Tune();
  AddOld("other", "2001-01-01T00:00:00Z");
  ASSERT_TRUE(project_.Compile());
  DrainEvents();
  ASSERT_FALSE(project_.StampIsNew());
  const Json dry =
      Ask("forget", {{"project", project_.build_folder()}, {"dry_run", true}})["result"];
  EXPECT_EQ(dry["schema"], "cupilot.forgotten/1");
  EXPECT_THAT(Published(), Not(IsEmpty())) << "a dry run";
  const Json done = Ask("forget", {{"project", project_.build_folder()}})["result"];
  EXPECT_EQ(done["projects"], Json::array({project_.build_folder()}));
  EXPECT_EQ(done["kernels"], Json::array({"one"}));
  EXPECT_GT(done["evaluations"], 1);
  EXPECT_EQ(done["objects"], 1);
  EXPECT_EQ(done["evaluations"], dry["evaluations"]);
  EXPECT_THAT(done["problems"], IsEmpty());
  EXPECT_TRUE(project_.PublishedVariants().empty());
  EXPECT_TRUE(project_.StampIsNew());
  EXPECT_FALSE(project_.Compile()) << "the original";
  EXPECT_EQ(Count(Table::kEvaluations), 1u) << "the other project's";
  EXPECT_EQ(Count(Table::kVariants), 1u);
  EXPECT_EQ(Count(Table::kCounters, "job/"), 1u);
  EXPECT_EQ(Count(Table::kSelections, "change/"), 0u);
  Drain();
  EXPECT_FALSE(service_->projects().contains(project_.build_folder()));
  Restart();
  Drain();
  EXPECT_FALSE(service_->projects().contains(project_.build_folder()))
      << "it is registered no more";
}

TEST_F(StorageTest, WhatIsUnderWayLeavesNothingOfADroppedProject) {
  Prepare("kernel one a\n");
  Start();
  WorkUntilEvaluating();
  const Json done = Ask("forget", {{"project", project_.build_folder()}})["result"];
  EXPECT_EQ(done["schema"], "cupilot.forgotten/1");
  Drain();
  EXPECT_EQ(evaluator_.open(), 0u);
  for (const Table table : {Table::kEvaluations, Table::kVariants, Table::kKernels}) {
    EXPECT_EQ(Count(table), 0u) << cache::TableName(table);
  }
  EXPECT_EQ(Count(Table::kCounters, "job/"), 0u);
}

TEST_F(StorageTest, ForgetOfAnUnknownProjectNamesThoseThatThereAre) {
  Tune();
  const Json reply = Ask("forget", {{"project", "/nowhere"}});
  EXPECT_EQ(CodeOf(reply), "not_found");
  EXPECT_THAT(reply["error"]["message"].get<std::string>(), HasSubstr(project_.build_folder()));
  EXPECT_THAT(Published(), Not(IsEmpty()));
}

TEST_F(StorageTest, ForgetWaitsForABuild) {
  Tune();
  {
    const test::RunningBuild build(project_.build_folder());
    EXPECT_EQ(CodeOf(Ask("forget", {{"all", true}})), "unavailable");
  }
  EXPECT_EQ(service_->projects().size(), 1u);
}

TEST_F(StorageTest, ExportHasAllOfTheProjectAndNoPathOfTheMachine) {
  Tune();
  AddOld("other", "2001-01-01T00:00:00Z");
  const Json file = Export({{"folder", project_.build_folder()}});
  EXPECT_EQ(file["schema"], "cupilot.export/1");
  ASSERT_THAT(file["kernels"], SizeIs(1));
  EXPECT_EQ(file["kernels"][0]["kernel"], "one");
  EXPECT_GT(file["kernels"][0]["variants"].size(), 1u);
  EXPECT_THAT(file["workloads"], SizeIs(1));
  EXPECT_THAT(file.dump(), Not(HasSubstr(folder_.path())));
  EXPECT_THAT(Export({{"folder", "/nowhere"}, {"all", true}})["kernels"], SizeIs(2));
  EXPECT_EQ(CodeOf(Ask("export", {{"folder", "/nowhere"}})), "not_found");
}

TEST_F(StorageTest, WhatIsImportedIsMeasuredHereBeforeItCounts) {
  Tune();
  const std::string best = Published();
  const std::string path = folder_ / "there.json";
  ASSERT_TRUE(
      base::WriteFileAtomically(path, Export({{"folder", project_.build_folder()}}).dump()));
  // Another machine: nothing is known, no technique wins, and what won there is slower here.
  Stop();
  ASSERT_TRUE(base::RemoveTree(project_.object_folder() + "/selection.json"));
  for (const Table table : {Table::kEvaluations, Table::kVariants, Table::kCounters}) {
    std::vector<cache::Write> writes;
    ASSERT_TRUE(store_.Scan(table, "", [&](std::string_view key, std::string_view) {
      writes.push_back({table, std::string(key), std::nullopt});
      return true;
    }));
    ASSERT_TRUE(store_.Apply(writes));
  }
  std::vector<std::string> evaluated;
  judge_ = [&](const evaluate::EvaluateRequest& request) {
    evaluated.push_back(request.variant.id);
    return test::MakeEvaluation(request, 0.7);
  };
  workers_.Resume();
  Start();
  const Json early = Ask("import", {{"file", path}})["result"];
  EXPECT_EQ(early["schema"], "cupilot.imported/1");
  EXPECT_GT(early["proposals"], 0);
  EXPECT_EQ(early["waiting"], early["proposals"]) << "no source is read yet";
  EXPECT_EQ(Count(Table::kEvaluations), 0u) << "no evidence";
  Drain();
  ASSERT_THAT(evaluated, Not(IsEmpty()));
  EXPECT_EQ(evaluated[0], best) << "the most promising first";
  EXPECT_TRUE(project_.PublishedVariants().empty());
  EXPECT_EQ(Explain("one")["verdict"], "original");
  // Once is enough.
  const auto count = evaluated.size();
  const Json again = Ask("import", {{"file", path}})["result"];
  EXPECT_EQ(again["proposals"], 0);
  Drain();
  EXPECT_EQ(evaluated.size(), count);
}

TEST_F(StorageTest, AnImportedWinnerIsPublishedOnceItIsProvenHere) {
  Tune();
  Json file = Export({{"folder", project_.build_folder()}});
  // Made by no technique of ours.
  Json& entry = file["kernels"][0]["variants"][0];
  Json variant = entry["variant"];
  variant["source"] = "made elsewhere";
  variant.erase("id");
  const auto parsed = records::ParseVariant(variant);
  ASSERT_TRUE(parsed) << parsed.error().message;
  Json evaluation = Ask("diff", {{"kernel", "one"}})["result"]["evaluation"];
  evaluation["variant"] = parsed->id;
  entry = {{"variant", records::ToJson(*parsed)}, {"evaluations", Json::array({evaluation})}};
  const std::string path = folder_ / "there.json";
  ASSERT_TRUE(base::WriteFileAtomically(path, file.dump()));
  judge_ = [](const evaluate::EvaluateRequest& request) {
    return test::MakeEvaluation(request, request.variant.source == "made elsewhere" ? 2.5 : 0.9);
  };
  EXPECT_GT(Ask("import", {{"file", path}})["result"]["proposals"], 0);
  DrainUntil([&] { return Published() == parsed->id; });
}

// The search of the kernel had ended, and the daemon ends before it looks at them.
TEST_F(StorageTest, ProposalsOfAnEndedSearchAreLookedAt) {
  Tune();
  const std::string best = Published();
  const std::string path = folder_ / "there.json";
  ASSERT_TRUE(
      base::WriteFileAtomically(path, Export({{"folder", project_.build_folder()}}).dump()));
  ASSERT_EQ(Row("one")["state"], "done");
  // Only the evidence of the best one is gone.
  const std::string prefix = records::TextAt(Explain("one"), "kernel_key") + "/";
  std::vector<cache::Write> writes;
  ASSERT_TRUE(store_.Scan(Table::kEvaluations, prefix, [&](std::string_view key, std::string_view) {
    if (key.find(best) != std::string_view::npos) {
      writes.push_back({Table::kEvaluations, std::string(key), std::nullopt});
    }
    return true;
  }));
  ASSERT_THAT(writes, Not(IsEmpty()));
  Stop();
  ASSERT_TRUE(store_.Apply(writes));
  workers_.Resume();
  Start();
  Drain();
  EXPECT_NE(Published(), best);
  EXPECT_EQ(Row("one")["state"], "done");
  EXPECT_GT(Ask("import", {{"file", path}})["result"]["proposals"], 0);
  Restart();
  DrainUntil([&] { return Published() == best; });
  Drain();
  EXPECT_EQ(Row("one")["state"], "done");
}

TEST_F(StorageTest, MarksAreImportedWhereTheyAreAskedForAndNothingIsDecided) {
  Tune();
  const std::string best = Published();
  Ask("reject", {{"what", best}, {"folder", ""}});
  Drain();
  const Json file = Export({{"folder", project_.build_folder()}});
  const std::string path = folder_ / "there.json";
  ASSERT_TRUE(base::WriteFileAtomically(path, file.dump()));
  Ask("reject", {{"what", best}, {"folder", ""}, {"undo", true}});
  DrainUntil([&] { return Published() == best; });
  const Json without = Ask("import", {{"file", path}})["result"];
  EXPECT_EQ(without["marks"], 0);
  EXPECT_EQ(without["marks_left"], 1);
  Drain();
  EXPECT_EQ(Published(), best);
  const Json with = Ask("import", {{"file", path}, {"marks", true}})["result"];
  EXPECT_EQ(with["marks"], 1);
  EXPECT_EQ(with["marks_left"], 0);
  DrainUntil([&] { return Published() != best; });
  // What is decided here stays.
  Ask("reject", {{"what", best}, {"folder", ""}, {"undo", true}});
  Ask("pin", {{"kernel", "one"}, {"variant", best}});
  EXPECT_EQ(Ask("import", {{"file", path}, {"marks", true}})["result"]["marks"], 0);
  DrainUntil([&] { return Published() == best; });
}

TEST_F(StorageTest, AnImportNamesTheFileAndTheKeyThatIsWrong) {
  Tune();
  const Json good = Export({{"folder", project_.build_folder()}});
  const std::string path = folder_ / "there.json";
  const auto message = [&](const std::string& text) {
    EXPECT_TRUE(base::WriteFileAtomically(path, text));
    const Json reply = Ask("import", {{"file", path}});
    EXPECT_EQ(CodeOf(reply), "invalid_argument") << reply.dump();
    return reply.contains("error") ? reply["error"]["message"].get<std::string>() : "";
  };
  EXPECT_THAT(message("{"), HasSubstr("there.json"));
  EXPECT_THAT(message("{\"schema\": \"cupilot.export/2\"}"), HasSubstr("newer cuPilot"));
  Json bad = good;
  bad["kernels"][0]["variants"][0]["variant"]["source"] = "changed on the way";
  EXPECT_THAT(message(bad.dump()), HasSubstr("kernels[0].variants[0].variant"));
  bad = good;
  bad["kernels"][0]["kernel_key"] = "../x";
  EXPECT_THAT(message(bad.dump()), HasSubstr("kernel_key"));
  bad = good;
  bad["kernels"][0]["marks"] = Json::array({Json{{"mark", "loved"}}});
  EXPECT_THAT(message(bad.dump()), HasSubstr("kernels[0].marks[0].mark"));
  EXPECT_EQ(Count(Table::kVariants, "imported/"), 0u);
  EXPECT_EQ(CodeOf(Ask("import", {{"file", folder_ / "none"}})), "not_found");
  EXPECT_EQ(CodeOf(Ask("import", Json::object())), "invalid_argument");
}

}  // namespace
}  // namespace cupilot::service
