// Language models in the work on a kernel. What they answer here are documents for the mechanics
// only (mechanics_answers.h).
#include "service/model_phase.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "agents/replay_provider.h"
#include "cache/record.h"
#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"
#include "tests/support/answering_provider.h"
#include "tests/support/mechanics_answers.h"

namespace cupilot::service {
namespace {

using agents::Failure;
using records::Json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

agents::ModelResult Fails(Failure why) {
  agents::ModelError error;
  error.why = why;
  error.message = "it says no";
  return tl::unexpected(error);
}

class ModelPhaseTest : public ServiceTest {
 protected:
  ModelPhaseTest() {
    settings_.models.requests = 14;
    settings_.models.votes = 3;
    // What techniques make is half as fast again, what a model makes twice as fast and more.
    judge_ = [](const evaluate::EvaluateRequest& request) {
      const auto t = request.variant.values.find("T");
      return test::MakeEvaluation(
          request, t == request.variant.values.end() ? 1.5 : 2 + t->second.get<double>() / 100);
    };
  }

  void StartAsking(bool allowed = true) {
    surroundings_.providers.clear();
    for (test::AnsweringProvider* one : providers_) surroundings_.providers.push_back({one, "m"});
    alarms_ = std::make_unique<agents::LoopAlarms>(*loop_);
    surroundings_.alarms = alarms_.get();
    models_ = &surroundings_;
    Prepare("kernel one a\n");
    Start();
    if (!allowed) return;
    for (test::AnsweringProvider* one : providers_) {
      ASSERT_TRUE(service_->models().consent().Allow(Project(), one->name()));
    }
  }
  std::string Project() const { return ModelProject(folder_ / "source"); }
  void StartOn(cache::Store& store) {
    alarms_ = std::make_unique<agents::LoopAlarms>(*loop_);
    surroundings_.alarms = alarms_.get();
    service_ = std::make_unique<Service>(
        Service::Collaborators{*loop_, clock_, store, workers_, evaluator_, files_, nullptr,
                               &surroundings_},
        settings_, state());
    service_->Start();
    for (const ModelSource& one : surroundings_.providers) {
      EXPECT_TRUE(service_->models().consent().Allow(Project(), one.provider->name()));
    }
  }
  void RestartOn(cache::Store& store) {
    Stop();
    workers_.Resume();
    StartOn(store);
  }
  // Answers all questions until nothing is asked or evaluated any more; no more answers than these.
  void DrainAsking(int answers = 1000) {
    Drain();
    while (answers > 0 && AnswerOne()) {
      --answers;
      Drain();
    }
  }
  bool AnswerOne() {
    for (test::AnsweringProvider* one : providers_) {
      if (one->AnswerOne()) return true;
    }
    return false;
  }
  const std::vector<agents::ModelRequest>& Asked() const { return provider_.asked(); }
  Json Phase() { return Explain("one")["models"]; }
  // All that is to be the same of two runs.
  Json Story() {
    Json explained = Explain("one");
    return {{"models", explained["models"]},
            {"tried", explained["tried"]},
            {"evaluation", explained["evaluation"]}};
  }

  test::AnsweringProvider provider_{test::MechanicsAnswer};
  std::vector<test::AnsweringProvider*> providers_ = {&provider_};
  ModelSurroundings surroundings_;
  std::unique_ptr<agents::LoopAlarms> alarms_;
};

TEST_F(ModelPhaseTest, WhatAModelWritesIsEvaluatedAndMayWin) {
  StartAsking();
  DrainAsking();
  const Json phase = Phase();
  EXPECT_EQ(phase["state"], "ended") << phase;
  EXPECT_THAT(phase["ended"].get<std::string>(), Not(IsEmpty()));
  EXPECT_LE(phase["requests"], 14);
  EXPECT_EQ(phase["requests"], Asked().size());
  ASSERT_THAT(phase["ideas"], Not(IsEmpty()));
  // The structure counts with its best value: T = 64.
  const Json explained = Explain("one");
  EXPECT_EQ(explained["verdict"], "accepted");
  EXPECT_NEAR(explained["speedup"].get<double>(), 2.64, 1e-9);
  EXPECT_EQ(explained["published"], true);
  EXPECT_EQ(IdleReason(), "done");
  std::set<std::string> roles;
  for (const agents::ModelRequest& request : Asked()) {
    roles.insert(request.role.substr(0, request.role.find('.')));
    EXPECT_EQ(request.project, Project());
    EXPECT_THAT(request.prompt, Not(HasSubstr(folder_.path())));
  }
  EXPECT_TRUE(roles.contains("strategist") && roles.contains("translator") &&
              roles.contains("judge"));
  const auto totals = service_->models().budget().Totals();
  ASSERT_EQ(totals->size(), 1u);
  EXPECT_NEAR(totals->front().gain, std::log(2.64 / 1.5), 1e-6) << "what it is faster than before";
}

TEST_F(ModelPhaseTest, WithoutAProviderNothingIsAskedAndNothingChanges) {
  providers_.clear();
  StartAsking();
  Drain();
  EXPECT_TRUE(Phase().is_null());
  EXPECT_TRUE(StatusDocument(*service_)["models"].is_null() ||
              StatusDocument(*service_)["models"]["requests"] == 0);
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_NEAR(Explain("one")["speedup"].get<double>(), 1.5, 1e-9);
}

TEST_F(ModelPhaseTest, NothingIsAskedBeforeTheUserAllowsIt) {
  StartAsking(false);
  DrainAsking();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_TRUE(Phase().is_null());
  EXPECT_EQ(IdleReason(), "done");
  ASSERT_TRUE(AllowModel(*service_,
                         {{"provider", provider_.name()}, {"folder", folder_ / "source"}}, true));
  DrainAsking();
  EXPECT_THAT(Asked(), Not(IsEmpty()));
  EXPECT_NEAR(Explain("one")["speedup"].get<double>(), 2.64, 1e-9);
}

TEST_F(ModelPhaseTest, AModelThatRefusesEndsNothingButItself) {
  provider_ = test::AnsweringProvider([](const auto&) { return Fails(Failure::kRefused); });
  StartAsking();
  DrainAsking();
  EXPECT_EQ(Phase()["state"], "ended");
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_NEAR(Explain("one")["speedup"].get<double>(), 1.5, 1e-9);
}

// Each first answer is malformed on purpose.
TEST_F(ModelPhaseTest, AnAnswerThatCannotBeReadIsRepairedOnce) {
  provider_ =
      test::AnsweringProvider([](const agents::ModelRequest& request) -> agents::ModelResult {
        if (agents::IsRepair(request)) return test::MechanicsAnswer(request);
        agents::ModelAnswer answer;
        answer.text = "Sure! Here is what I think.";
        return answer;
      });
  StartAsking();
  DrainAsking();
  EXPECT_EQ(Phase()["state"], "ended");
  EXPECT_EQ(Asked().size() % 2, 0u);
  EXPECT_NEAR(Explain("one")["speedup"].get<double>(), 2.64, 1e-9);
}

TEST_F(ModelPhaseTest, WhatHasNoKnownPriceIsNotSent) {
  provider_.traits_.costs = true;
  StartAsking();
  DrainAsking();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_EQ(Phase()["state"], "ended");
  EXPECT_THAT(Phase()["ended"].get<std::string>(), HasSubstr("is not known"));
}

TEST_F(ModelPhaseTest, OverTheLimitNothingIsSent) {
  const std::string prices = folder_.Write("prices.json", R"({"schema": "cupilot.model_prices/1",
    "prices": [{"origin": "https://api.x.com", "model": "m", "from": "2020-01-01",
      "seen": "2026-01-01", "source": "the test", "input": 1, "output": 1}]})");
  auto loaded = agents::PriceTable::Load({prices});
  ASSERT_TRUE(loaded) << loaded.error().message;
  surroundings_.prices = *loaded;
  provider_.traits_.costs = true;
  settings_.models.limits = {1, 1, 1};  // billionths of a dollar
  StartAsking();
  DrainAsking();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_EQ(Phase()["state"], "ended");
  EXPECT_EQ(IdleReason(), "done");
}

TEST_F(ModelPhaseTest, OfTwoModelsTheOtherIsAskedWhereOneMayNot) {
  test::AnsweringProvider broken([](const auto&) { return Fails(Failure::kNoMoney); }, "broken x");
  providers_ = {&broken, &provider_};
  StartAsking();
  DrainAsking();
  EXPECT_LE(broken.asked().size(), 1u);
  EXPECT_THAT(Asked(), Not(IsEmpty()));
  EXPECT_NEAR(Explain("one")["speedup"].get<double>(), 2.64, 1e-9);
}

TEST_F(ModelPhaseTest, WhatIsPendingIsAskedAgainByTheNextDaemon) {
  bool there = false;
  provider_ = test::AnsweringProvider([&there](const agents::ModelRequest& request) {
    return there ? test::MechanicsAnswer(request) : Fails(Failure::kPending);
  });
  StartAsking();
  DrainAsking();
  EXPECT_EQ(Phase()["state"], "pending");
  EXPECT_EQ(Phase()["open_requests"], 1);
  EXPECT_EQ(IdleReason(), "waiting for answers");
  EXPECT_EQ(StatusDocument(*service_)["models"]["open_requests"], 1);
  there = true;
  RestartOn(store_);
  DrainAsking();
  EXPECT_EQ(Phase()["state"], "ended");
  EXPECT_NEAR(Explain("one")["speedup"].get<double>(), 2.64, 1e-9);
}

// What is measured meanwhile (a profile, say) would be in a prompt that is written anew: another
// question, to which nobody has the answer.
TEST_F(ModelPhaseTest, WhatIsPendingIsTheSameQuestionWhateverIsKnownMeanwhile) {
  provider_ = test::AnsweringProvider([](const auto&) { return Fails(Failure::kPending); });
  StartAsking();
  DrainAsking();
  ASSERT_EQ(Asked().size(), 1u);
  const std::string before = agents::RequestKey(Asked()[0]);
  Stop();
  std::map<std::string, Json> changed;
  ASSERT_TRUE(store_.Scan(cache::Table::kEvaluations, "",
                          [&](std::string_view key, std::string_view bytes) {
                            const auto record = cache::Unseal(bytes);
                            if (!record || !record->value.contains("cases")) return true;
                            Json evaluation = record->value;
                            for (Json& one : evaluation["cases"]) {
                              one["original_us"] = 7 * one["original_us"].get<double>();
                            }
                            changed[std::string(key)] = std::move(evaluation);
                            return true;
                          }));
  ASSERT_THAT(changed, Not(IsEmpty()));
  for (auto& [key, evaluation] : changed) {
    const std::string bytes = *store_.Get(cache::Table::kEvaluations, key).value();
    const auto record = cache::Unseal(bytes);
    const std::string sealed = cache::Seal(evaluation, record->toolchain, record->driver);
    ASSERT_TRUE(store_.Apply({{cache::Table::kEvaluations, key, sealed}}));
  }
  for (int lives = 0; lives < 2; ++lives) {
    RestartOn(store_);
    DrainAsking();
    EXPECT_EQ(Phase()["requests"], 1);
    EXPECT_EQ(Phase()["open_requests"], 1);
  }
  ASSERT_EQ(Asked().size(), 3u);
  EXPECT_EQ(agents::RequestKey(Asked()[1]), before);
  EXPECT_EQ(agents::RequestKey(Asked()[2]), before);
}

// Wherever it is stopped: the story is the one of a daemon that never was.
TEST_F(ModelPhaseTest, ARestartInTheMiddleChangesNothing) {
  StartAsking();
  DrainAsking();
  const Json whole = Story();
  const std::size_t evaluated = evaluator_.evaluated().size();
  ASSERT_GE(Asked().size(), 8u);
  for (const int answers : {1, 2, 4, 7}) {
    cache::MemoryStore store;
    const std::size_t before = evaluator_.evaluated().size();
    RestartOn(store);
    DrainAsking(answers);
    RestartOn(store);
    DrainAsking();
    EXPECT_EQ(Story(), whole) << "stopped after " << answers << " answers";
    EXPECT_EQ(evaluator_.evaluated().size() - before, evaluated) << answers;
    Stop();
  }
}

// The answer is kept, and what it holds is evaluated by the next daemon, which does not ask again.
TEST_F(ModelPhaseTest, AKillBetweenAnswerAndEvaluationLosesNeither) {
  StartAsking();
  int turns = 0;
  while (evaluator_.open() == 0 || Asked().empty()) {
    ASSERT_LT(++turns, 100'000);
    loop_->RunOnce(false);
    if (workers_.RunOne()) continue;
    if (evaluator_.open() == 0) {
      AnswerOne();
    } else if (Asked().empty()) {
      evaluator_.AnswerOne();
    }
  }
  const std::string variant = evaluator_.evaluated().back();
  const std::size_t before = evaluator_.evaluated().size();
  RestartOn(store_);
  DrainAsking();
  EXPECT_EQ(evaluator_.evaluated().at(before), variant) << "first what was not evaluated";
  EXPECT_EQ(Phase()["state"], "ended");
  std::set<std::string> keys;
  for (const agents::ModelRequest& request : Asked()) {
    EXPECT_TRUE(keys.insert(agents::RequestKey(request)).second) << request.role << ", twice";
  }
}

// A daemon in between that knows no provider loses nothing, and the next one goes on.
TEST_F(ModelPhaseTest, WithoutItsProviderForAWhileItGoesOnLater) {
  StartAsking();
  DrainAsking(3);
  Stop();
  workers_.Resume();
  models_ = nullptr;
  Start();
  Drain();
  EXPECT_TRUE(Phase().is_null());
  EXPECT_EQ(IdleReason(), "done");
  RestartOn(store_);
  DrainAsking();
  EXPECT_EQ(Phase()["state"], "ended");
  EXPECT_NEAR(Explain("one")["speedup"].get<double>(), 2.64, 1e-9);
}

// From what was recorded, without the one who answered: the same evolution, and the same
// evaluations in the same order, though all answers are there at once now.
TEST_F(ModelPhaseTest, ReplaysFromItsExchanges) {
  StartAsking();
  DrainAsking();
  const Json whole = Story();
  const auto kept = service_->models().log().All("");
  ASSERT_TRUE(kept);
  ASSERT_EQ(kept->size(), Asked().size());
  Stop();
  agents::LoopAlarms alarms(*loop_);
  agents::ReplayProvider replay(alarms, *kept);
  surroundings_.providers = {{&replay, ""}};
  cache::MemoryStore fresh;
  workers_.Resume();
  StartOn(fresh);
  DrainUntil([&] { return IdleReason() == "done"; });
  EXPECT_EQ(replay.left(), 0u) << "all that was recorded was asked for";
  Json story = Story();
  // The recording is who answered now.
  for (Json& variant : story["models"]["variants"]) {
    EXPECT_EQ(variant["provider"], "replay");
    variant["provider"] = "openai https://api.x.com";
    variant["model"] = "m";
  }
  EXPECT_EQ(story["models"], whole["models"]);
  EXPECT_EQ(story["evaluation"], whole["evaluation"]);
  EXPECT_EQ(story["tried"], whole["tried"]);
  Stop();
}

}  // namespace
}  // namespace cupilot::service
