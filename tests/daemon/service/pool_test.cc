// The strategy pool: what verdicts and imports leave in it, and that kernels profit from it.
#include "service/pool.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/file.h"
#include "cache/keys.h"
#include "search/seed_pool.h"
#include "service/job_record.h"
#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using records::FeatureAt;
using records::Json;
using records::PoolEntry;
using records::PoolOrigin;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

records::KernelFeatures Features(double loops = 2) {
  records::KernelFeatures features;
  features.values[FeatureAt("loops")] = loops;
  return features;
}

records::Strategy Doing(std::vector<records::StrategyStep> steps) {
  records::Strategy strategy;
  strategy.title = "does something";
  strategy.steps = std::move(steps);
  return strategy;
}
records::StrategyStep StepOf(const std::string& technique, Json parameters,
                             const std::string& rationale = "") {
  return {technique, std::move(parameters), rationale, 1.0};
}
records::Strategy Wide() { return Doing({StepOf("vectorized_access", {{"width", 4}})}); }

records::Evaluation Verdict(double speedup, const std::string& date = "2026-11-21T08:30:00Z") {
  records::Evaluation evaluation;
  evaluation.kernel_key = "key";
  evaluation.variant = "variant";
  evaluation.device = {"a GPU", "sm_90", 132, 1024};
  evaluation.driver = "580";
  evaluation.date = date;
  evaluation.accepted = speedup > 1;
  if (speedup <= 1) evaluation.reason = "not_faster";
  evaluation.speedup = speedup;
  evaluation.interval = std::array<double, 2>{speedup * 0.9, speedup * 1.1};
  return evaluation;
}

class PoolTest : public ::testing::Test {
 protected:
  base::Result<> Add(const records::Evaluation& evaluation, const records::Strategy& strategy,
                     std::optional<records::KernelFeatures> features = Features()) {
    return pool_.Add({"image::blur", std::move(features), "", &evaluation, &strategy});
  }
  // Those of the store, as another daemon reads them.
  std::vector<PoolEntry> Stored() {
    Pool again(store_, 100);
    auto all = again.All();
    EXPECT_TRUE(all);
    std::erase_if(*all, [](const PoolEntry& e) { return e.origin == PoolOrigin::kShipped; });
    return *all;
  }

  cache::MemoryStore store_;
  Pool pool_{store_, 100};
};

TEST_F(PoolTest, AVerdictIsAnEntry) {
  ASSERT_TRUE(Add(Verdict(1.5), Wide()));
  const auto stored = Stored();
  ASSERT_THAT(stored, SizeIs(1));
  const PoolEntry& entry = stored[0];
  EXPECT_EQ(entry.kernel, "image::blur");
  EXPECT_EQ(entry.kernel_key, "key");
  EXPECT_EQ(entry.features, Features());
  EXPECT_EQ(entry.device, (records::PoolDevice{"cuda", "a GPU", "sm_90"}));
  EXPECT_EQ(entry.gain->factor, 1.5);
  EXPECT_EQ((*entry.gain->interval)[0], 1.5 * 0.9);
  EXPECT_EQ(entry.reason, "");
  EXPECT_EQ(entry.tried, 1);
  EXPECT_EQ(entry.won, 1);
  EXPECT_EQ(entry.date, "2026-11-21T08:30:00Z");
  EXPECT_EQ(entry.origin, PoolOrigin::kHere);
  // Evidence of a strategy does not end with a driver.
  const auto bytes = store_.Get(cache::Table::kStrategies, cache::PoolKey(entry.id));
  EXPECT_EQ(cache::Unseal(**bytes)->driver, "");
}

TEST_F(PoolTest, VerdictsOnOneKernelDeviceAndStrategyAreOneEntry) {
  ASSERT_TRUE(Add(Verdict(1.5, "2026-11-21"), Wide()));
  ASSERT_TRUE(Add(Verdict(0.9, "2026-11-22"), Wide()));
  auto stored = Stored();
  ASSERT_THAT(stored, SizeIs(1));
  EXPECT_EQ(stored[0].tried, 2);
  EXPECT_EQ(stored[0].won, 1);
  EXPECT_EQ(stored[0].gain->factor, 0.9) << "the newest stands";
  EXPECT_EQ(stored[0].reason, "not_faster");
  EXPECT_EQ(stored[0].date, "2026-11-22");
  records::Evaluation elsewhere = Verdict(2.0);
  elsewhere.device.arch = "sm_80";
  ASSERT_TRUE(Add(elsewhere, Wide()));
  EXPECT_THAT(Stored(), SizeIs(2));
}

TEST_F(PoolTest, WhatWasWrongGainedNothing) {
  records::Evaluation wrong = Verdict(3.0);
  wrong.accepted = false;
  wrong.reason = "race";
  ASSERT_TRUE(Add(wrong, Wide()));
  EXPECT_EQ(Stored()[0].gain, std::nullopt);
  EXPECT_EQ(Stored()[0].reason, "race");
  EXPECT_EQ(Stored()[0].won, 0);
}

TEST_F(PoolTest, WhatIsBoundToTheKernelIsNoEntry) {
  ASSERT_TRUE(Add(Verdict(1.5), Wide(), std::nullopt));
  ASSERT_TRUE(Add(Verdict(1.5), Doing({StepOf(search::kTunablesStep, {{"BX", 32}})})));
  records::Strategy classed = Wide();
  classed.steps.push_back(StepOf(search::kSizeClass, {{"guard", "n > 4096"}}));
  ASSERT_TRUE(Add(Verdict(1.5), classed));
  EXPECT_THAT(Stored(), IsEmpty());
  // Values found below a structure are left out, the structure counts.
  records::Strategy tuned = Wide();
  tuned.steps.push_back(StepOf(search::kTunablesStep, {{"BX", 32}}));
  ASSERT_TRUE(Add(Verdict(1.5), tuned));
  ASSERT_THAT(Stored(), SizeIs(1));
  EXPECT_EQ(Stored()[0].strategy.steps, Wide().steps);
}

TEST_F(PoolTest, OldEntriesThatSayLittleGoFirst) {
  Pool small(store_, 3);
  const auto add = [&](int width, double speedup, const std::string& date) {
    const records::Evaluation evaluation = Verdict(speedup, date);
    const records::Strategy strategy = Doing({StepOf("block_size", {{"x", width}})});
    ASSERT_TRUE(small.Add({"k", Features(), "", &evaluation, &strategy}));
  };
  add(1, 2.0, "2026-01-01");
  add(2, 1.001, "2026-01-02");
  add(3, 1.001, "2026-01-03");
  add(4, 1.0001, "2026-01-04");
  std::vector<std::string> dates;
  for (const PoolEntry& entry : Stored()) dates.push_back(entry.date);
  EXPECT_THAT(dates, ::testing::UnorderedElementsAre("2026-01-01", "2026-01-03", "2026-01-04"));
}

TEST_F(PoolTest, AnImportOfManyStaysWithinTheLimit) {
  ASSERT_TRUE(Add(Verdict(1.5), Wide()));
  const PoolEntry one = pool_.Export(false)->entries[0];
  records::PoolFile file;
  for (int i = 0; i < 500; ++i) {
    file.entries.push_back(one);
    file.entries.back().id = "entry-" + std::to_string(i);
    file.entries.back().gain = records::PoolGain{1 + i / 100.0, std::nullopt};
  }
  EXPECT_EQ(*pool_.Import(file), 500u);
  const auto stored = Stored();
  ASSERT_THAT(stored, SizeIs(100));
  EXPECT_TRUE(std::any_of(stored.begin(), stored.end(),
                          [](const PoolEntry& e) { return e.id == "entry-499"; }));
}

TEST_F(PoolTest, AProfileSaysWhatBoundsTheKernel) {
  ASSERT_TRUE(Add(Verdict(1.5), Wide()));
  records::Evaluation profiled = Verdict(1.5);
  profiled.metrics["case only"]["roofline"]["original"] = {
      {"bound", "l2"}, {"instructions", {{"_Z4blur", {{"fp32", 30}, {"global", 10}}}}}};
  ASSERT_TRUE(pool_.AddProfile(profiled));
  const PoolEntry entry = Stored()[0];
  EXPECT_EQ(entry.bottleneck, "l2");
  EXPECT_EQ(entry.tried, 1);
  EXPECT_EQ(entry.features->values[FeatureAt("code_fp32")], 0.75);
  search::PoolQuestion question;
  question.features = Features();
  AddProfiles({profiled}, profiled.device, question);
  EXPECT_EQ(question.bottleneck, "l2");
  EXPECT_EQ(question.features, entry.features);
  // The next verdict, whose job does not know of it, keeps it.
  ASSERT_TRUE(Add(Verdict(1.6), Wide()));
  EXPECT_EQ(Stored()[0].bottleneck, "l2");
  EXPECT_TRUE(records::KnowsCode(*Stored()[0].features));
}

// A profile names one of the roofline's ceilings; strategies, techniques and the pool have fewer
// words, and an entry with another one could not be read again.
TEST_F(PoolTest, ABoundIsKeptInTheWordsOfStrategies) {
  ASSERT_TRUE(Add(Verdict(1.5), Wide()));
  for (const auto& [ceiling, word] : {std::pair("issue", "fp32"),
                                      {"integer", "fp32"},
                                      {"fp64", "fp32"},
                                      {"special", "fp32"},
                                      {"l1", "l2"},
                                      {"load_store", "l2"},
                                      {"latency", "latency"}}) {
    records::Evaluation profiled = Verdict(1.5);
    profiled.metrics["case only"]["roofline"]["original"] = {{"bound", ceiling}};
    ASSERT_TRUE(pool_.AddProfile(profiled));
    ASSERT_THAT(Stored(), SizeIs(1)) << ceiling;
    EXPECT_EQ(Stored()[0].bottleneck, word) << ceiling;
    search::PoolQuestion question;
    AddProfiles({profiled}, profiled.device, question);
    EXPECT_EQ(question.bottleneck, word) << ceiling;
  }
}

TEST_F(PoolTest, ImportedEntriesAreMarkedAndReplaceNothingOfOurs) {
  ASSERT_TRUE(Add(Verdict(1.5), Wide()));
  records::PoolFile file = *pool_.Export(true);
  ASSERT_THAT(file.entries, SizeIs(1));
  EXPECT_EQ(file.entries[0].kernel, "image::blur");
  EXPECT_EQ(file.entries[0].kernel_key, "");
  file.entries[0].gain->factor = 99;
  file.entries[0].gain->interval.reset();
  file.entries[0].date = "2030-01-01";
  EXPECT_EQ(*pool_.Import(file), 0u);
  EXPECT_EQ(Stored()[0].gain->factor, 1.5);

  cache::MemoryStore other_store;
  Pool other(other_store, 100);
  EXPECT_EQ(*other.Import(file), 1u);
  EXPECT_EQ(*other.Import(file), 0u) << "nothing is newer";
  const PoolEntry imported = (*other.All())[0];
  EXPECT_EQ(imported.origin, PoolOrigin::kImported);
  EXPECT_EQ(imported.gain->factor, 99);
}

TEST_F(PoolTest, ExportsHoldNothingOfTheProject) {
  records::Strategy strategy =
      Doing({StepOf("other:Fuse SECRET", {{"where", "SECRET"}}, "as in SECRET")});
  strategy.title = "SECRET";
  const records::Evaluation evaluation = Verdict(1.5);
  ASSERT_TRUE(pool_.Add({"SECRET::kernel", Features(), "", &evaluation, &strategy}));
  EXPECT_THAT(records::ToJson(*pool_.Export(false)).dump(), Not(HasSubstr("SECRET")));
  EXPECT_THAT(records::ToJson(*pool_.Export(true)).dump(), HasSubstr("SECRET::kernel"));
}

TEST_F(PoolTest, AFileThatCannotBeIsNotImportedAtAll) {
  ASSERT_TRUE(Add(Verdict(1.5), Wide()));
  const records::PoolFile good = *pool_.Export(false);
  cache::MemoryStore other_store;
  Pool other(other_store, 100);
  const auto why = [&](auto change) {
    records::PoolFile file = good;
    file.entries.push_back(good.entries[0]);
    change(file.entries[1]);
    const auto imported = other.Import(file);
    EXPECT_EQ(other.All()->size(), search::SeedPool().size());
    return imported ? std::string() : imported.error().message;
  };
  EXPECT_THAT(why([](PoolEntry& e) { e.kernel = "\x1b[2Jx"; }), HasSubstr("entries[1]"));
  EXPECT_THAT(why([](PoolEntry& e) { e.features.reset(); }), HasSubstr("features"));
  EXPECT_THAT(why([](PoolEntry& e) { e.origin = PoolOrigin::kShipped; }), HasSubstr("own"));
  EXPECT_THAT(
      why([](PoolEntry& e) { e.strategy.steps = {StepOf(search::kSizeClass, Json::object())}; }),
      HasSubstr("bound to one kernel"));
}

TEST_F(PoolTest, AnEmptyPoolChangesNothing) {
  search::PoolQuestion question;
  question.features = Features();
  question.device = "cuda";
  const PoolAdvice advice = pool_.Advise(question, {"vectorized_access"});
  EXPECT_THAT(advice.seeds, IsEmpty());
  EXPECT_TRUE(advice.priors.empty());
  EXPECT_THAT(advice.examples, SizeIs(kMostExamples)) << "of the shipped ones";
  question.features.reset();
  EXPECT_THAT(pool_.Advise(question, {"vectorized_access"}).examples, IsEmpty());
}

TEST_F(PoolTest, AdviceComesBackWithTheJob) {
  ASSERT_TRUE(Add(Verdict(1.5), Wide()));
  search::PoolQuestion question;
  question.features = Features();
  question.device = "cuda";
  question.bottleneck = "dram";
  JobRecord record;
  record.advice = pool_.Advise(question, {"vectorized_access"});
  EXPECT_THAT(record.advice.seeds, SizeIs(1));
  EXPECT_EQ(record.advice.priors.size(), 1u);
  record.search = Json::object();
  const auto again = ParseJobRecord(ToJson(record));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->advice, record.advice);
  // A record of before there was a pool.
  Json old = ToJson(record);
  old.erase("pool");
  EXPECT_EQ(ParseJobRecord(old)->advice, PoolAdvice());
}

class PoolServiceTest : public ServiceTest {
 protected:
  const KernelJob* Job(const std::string& kernel) {
    const auto place = FindKernel(*service_, kernel, "");
    EXPECT_TRUE(place) << kernel;
    return place ? service_->FindJob(*place->object, *place->kernel) : nullptr;
  }
  Json Ask(const std::string& verb, const Json& params = Json::object()) {
    Requests requests(*service_, state(), [] {});
    const Json message = {{"id", 1}, {"verb", verb}, {"params", params}};
    return *records::ParseJson(requests.Handle("peer", message.dump()));
  }
  std::vector<std::string> Tried(const std::string& kernel) {
    std::vector<std::string> titles;
    for (const search::Idea& idea : Job(kernel)->search()->ideas()) titles.push_back(idea.asked);
    return titles;
  }
};

TEST_F(PoolServiceTest, AVerdictOnOneKernelIsASeedOfAnother) {
  // Of what is tried of `one` only the launch bounds alone win.
  judge_ = [](const evaluate::EvaluateRequest& request) {
    const auto& steps = request.variant.strategy->steps;
    const bool bounds = steps.size() == 1 && steps[0].technique == "launch_bounds";
    return test::MakeEvaluation(request, bounds ? 1.9 : 0.8);
  };
  Prepare("kernel one a loops=2\n");
  Start();
  Drain();
  ASSERT_EQ(IdleReason(), "done");
  EXPECT_THAT(Tried("one").front(), HasSubstr("restrict_readonly")) << "what is expected to pay";
  EXPECT_THAT(Job("one")->advice().seeds, IsEmpty());

  project_.WriteSource("kernel one a loops=2\nkernel two b loops=2\nkernel far c\n");
  project_.Compile();
  DrainUntil([&] { return Row("two")["state"] == "done" && Row("far")["state"] == "done"; });
  const PoolAdvice advice = Job("two")->advice();
  ASSERT_THAT(advice.seeds, SizeIs(1));
  EXPECT_EQ(advice.seeds[0].steps[0].technique, "launch_bounds");
  EXPECT_THAT(Tried("two").front(), HasSubstr("launch_bounds"));
  EXPECT_LT(advice.priors.at("restrict_readonly").log_gain, 0);
  // Nobody knows the features of `far`.
  EXPECT_THAT(Job("far")->advice().seeds, IsEmpty());
  EXPECT_THAT(Tried("far").front(), HasSubstr("restrict_readonly"));

  // What the pool has learned since does not change the way of what has begun.
  const std::vector<std::string> tried = Tried("two");
  Restart();
  Drain();
  EXPECT_EQ(Job("two")->advice(), advice);
  EXPECT_EQ(Tried("two"), tried);
}

TEST_F(PoolServiceTest, ValuesThatWonOnAKernelAreAChampionOfAnotherLikeIt) {
  judge_ = [](const evaluate::EvaluateRequest& request) {
    const auto& steps = request.variant.strategy->steps;
    return test::MakeEvaluation(request, steps[0].technique == search::kTunablesStep ? 1.9 : 0.8);
  };
  Prepare("kernel one a loops=2 tunable=T\n");
  Start();
  Drain();
  EXPECT_THAT(Job("one")->elsewhere().champions, IsEmpty());

  project_.WriteSource(
      "kernel one a loops=2 tunable=T\nkernel two b loops=2 tunable=T\n"
      "kernel other c loops=2 tunable=U\nkernel far d tunable=T\n");
  project_.Compile();
  DrainUntil([&] {
    return Row("two")["state"] == "done" && Row("other")["state"] == "done" &&
           Row("far")["state"] == "done";
  });
  const std::vector<search::Values> champions = {{{"T", 32}}};
  EXPECT_EQ(Job("two")->elsewhere().champions, champions);
  EXPECT_THAT(Job("other")->elsewhere().champions, IsEmpty()) << "no tunable of that name";
  EXPECT_THAT(Job("far")->elsewhere().champions, IsEmpty()) << "nobody knows its features";
}

TEST_F(PoolServiceTest, TheVerbsShowExportAndImport) {
  Prepare("kernel one a loops=2\n");
  Start();
  Drain();
  const Json list = Ask("strategies_list")["result"];
  EXPECT_EQ(list["schema"], "cupilot.strategies_list/1");
  EXPECT_EQ(list["left_out"], 0);
  ASSERT_GT(list["strategies"].size(), search::SeedPool().size());
  const Json first = list["strategies"][0];
  EXPECT_EQ(first["origin"], "here");
  EXPECT_EQ(first["kernel"], "one");
  EXPECT_EQ(first["gain"], 1.5);

  const std::string id = first["id"];
  EXPECT_EQ(Ask("strategies_show", {{"id", id}})["result"]["id"], id);
  EXPECT_EQ(Ask("strategies_show", {{"id", id.substr(0, 20)}})["result"]["id"], id);
  EXPECT_EQ(Ask("strategies_show", {{"id", "softmax-online"}})["result"]["source"]["year"], 2018);
  EXPECT_EQ(Ask("strategies_show", {{"id", "nothing"}})["error"]["code"], "not_found");
  const Json ambiguous = Ask("strategies_show", {{"id", "matmul-"}})["error"];
  EXPECT_EQ(ambiguous["code"], "invalid_argument");
  EXPECT_THAT(ambiguous["message"].get<std::string>(), HasSubstr("matmul-stream-k"));
  EXPECT_EQ(Ask("strategies_show")["error"]["code"], "invalid_argument");

  const Json exported = Ask("strategies_export")["result"];
  const std::string path = exported["document"];
  const std::string text = *base::ReadFile(path);
  EXPECT_THAT(text, HasSubstr("cupilot.strategies/1"));
  EXPECT_THAT(text, Not(HasSubstr("\"one\"")));
  const std::string named = Ask("strategies_export", {{"names", true}})["result"]["document"];
  EXPECT_THAT(*base::ReadFile(named), HasSubstr("\"one\""));

  const Json imported = Ask("strategies_import", {{"file", path}})["result"];
  EXPECT_EQ(imported["entries"], exported["entries"]);
  EXPECT_EQ(imported["imported"], 0) << "all of it was measured here";
}

TEST_F(PoolServiceTest, AWrongFileIsNamedWithItsKey) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const auto error = [&](const std::string& text) {
    return Ask("strategies_import", {{"file", folder_.Write("strategies.json", text)}})["error"];
  };
  EXPECT_EQ(error("{")["code"], "invalid_argument");
  EXPECT_THAT(error(R"({"schema": "cupilot.lock/1"})")["message"].get<std::string>(),
              HasSubstr("strategies.json: schema: expected \"cupilot.strategies/1\""));
  EXPECT_THAT(
      error(R"({"schema": "cupilot.strategies/1", "entries": [{}]})")["message"].get<std::string>(),
      HasSubstr("entries[0].schema"));
  EXPECT_EQ(Ask("strategies_import", {{"file", "/nowhere"}})["error"]["code"], "not_found");
  EXPECT_EQ(Ask("strategies_import")["error"]["code"], "invalid_argument");
}

}  // namespace
}  // namespace cupilot::service
