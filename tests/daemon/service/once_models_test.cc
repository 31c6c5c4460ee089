// One tune without the service that asks language models. What they answer here are documents for
// the mechanics only (mechanics_answers.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "agents/exchange_provider.h"
#include "base/file.h"
#include "cache/memory_store.h"
#include "service/once.h"
#include "tests/support/answering_provider.h"
#include "tests/support/fake_evaluator.h"
#include "tests/support/fake_project.h"
#include "tests/support/make_records.h"
#include "tests/support/manual_clock.h"
#include "tests/support/mechanics_answers.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Remembers what went through the folder, by its ID.
class WatchedExchange final : public agents::Provider {
 public:
  WatchedExchange(agents::Alarms& alarms, const std::string& folder,
                  std::map<std::string, agents::ModelRequest>& seen)
      : inner_(alarms, folder), seen_(seen) {}
  const std::string& name() const override { return inner_.name(); }
  agents::ProviderTraits traits() const override { return inner_.traits(); }
  std::string Bytes(const agents::ModelRequest& request) const override {
    return inner_.Bytes(request);
  }
  std::unique_ptr<agents::ModelCall> Send(agents::ModelRequest request, agents::TextHandler on_text,
                                          agents::AnswerHandler done) override {
    seen_[agents::ExchangeProvider::IdOf(request)] = request;
    return inner_.Send(std::move(request), std::move(on_text), std::move(done));
  }

 private:
  agents::ExchangeProvider inner_;
  std::map<std::string, agents::ModelRequest>& seen_;
};

class OnceModelsTest : public ::testing::Test {
 protected:
  OnceModelsTest() {
    source_ = folder_.Write("main.cu", "kernel one a\nkernel two b\n");
    folder_.Write("main.h", "a header\n");
  }

  // One process: its final line. `provider`: null: an exchange through `exchange`.
  Json Run(const std::string& exchange, agents::Provider* provider = nullptr,
           Json params = Json::object()) {
    loop::Loop loop;
    agents::LoopAlarms alarms(loop);
    cache::MemoryStore store, books, allowed;
    test::FakeWorkers workers;
    test::AnswerForFakeProjects(workers);
    test::FakeEvaluator evaluator([](const evaluate::EvaluateRequest& request) {
      const auto t = request.variant.values.find("T");
      return test::MakeEvaluation(
          request, t == request.variant.values.end() ? 1.5 : 2 + t->second.get<double>() / 100);
    });
    Catalog catalog(store);
    Pool pool(store, 100);
    agents::ModelSettings settings;
    settings.requests = 14;
    Models models(books, allowed, clock_, folder_ / "exchanges", settings);
    WatchedExchange folder(alarms, exchange, seen_);
    ModelSurroundings surroundings;
    surroundings.alarms = &alarms;
    surroundings.providers = {{provider == nullptr ? &folder : provider, ""}};
    EXPECT_TRUE(models.Use(surroundings));
    OnceModels asked;
    asked.models = &models;
    asked.services = {provider != nullptr};
    if (provider == nullptr) asked.exchange_folder = exchange;
    asked.store = &store;
    std::vector<Json> lines;
    Once once(
        loop, {workers, evaluator, catalog, clock_, pool},
        [&lines](const Json& line) { lines.push_back(line); }, asked);
    once.Start(Json{{"verb", "tune"}, {"params", Params(std::move(params))}}.dump());
    for (int quiet = 0; quiet < 5; ++quiet) {
      loop.RunOnce(false);
      while (workers.RunOne() || evaluator.AnswerOne()) quiet = 0;
      auto* answering = dynamic_cast<test::AnsweringProvider*>(provider);
      if (answering != nullptr && answering->AnswerOne()) quiet = 0;
    }
    const auto& evaluated = evaluator.evaluated();
    evaluated_.insert(evaluated_.end(), evaluated.begin(), evaluated.end());
    return lines.empty() ? Json::object() : lines.back();
  }
  Json Params(Json params) const {
    params["kernel"] = params.value("kernel", "one");
    params["file"] = source_;
    params["workload"] = records::ToJson(test::MakeSmallWorkload(params["kernel"]));
    return params;
  }
  // An answer for each open request; how many.
  int AnswerAll(const std::string& exchange) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(exchange + "/requests")) {
      const std::string id = entry.path().stem();
      EXPECT_TRUE(base::WriteFileAtomically(exchange + "/answers/" + id + ".txt",
                                            test::MechanicsAnswer(seen_.at(id))->text));
      ++count;
    }
    return count;
  }

  static std::vector<Json> WrittenByModels(const Json& result) {
    std::vector<Json> ids;
    for (const Json& variant : result["models"]["variants"]) {
      EXPECT_NE(variant["provider"], "");
      ids.push_back(variant["id"]);
    }
    return ids;
  }

  test::TemporaryFolder folder_;
  test::ManualClock clock_;
  std::string source_;
  std::map<std::string, agents::ModelRequest> seen_;
  std::vector<std::string> evaluated_;
};

TEST_F(OnceModelsTest, StopsAtOpenRequestsAndGoesOnWhereItWas) {
  std::string exchange = folder_ / "exchange";
  Json result = Run(exchange)["result"];
  EXPECT_EQ(result["models"]["open_requests"], 1) << result;
  EXPECT_EQ(result["models"]["exchange"], exchange);
  EXPECT_TRUE(result["variant"].is_object()) << "what techniques make is evaluated first";
  EXPECT_THAT(WrittenByModels(result), IsEmpty());
  int visits = 0;
  while (result["models"]["open_requests"] > 0) {
    ASSERT_LT(++visits, 30);
    ASSERT_GT(AnswerAll(exchange), 0);
    // Carried to another place, as to another machine.
    const std::string elsewhere = folder_ / ("exchange" + std::to_string(visits));
    std::filesystem::copy(exchange, elsewhere, std::filesystem::copy_options::recursive);
    exchange = elsewhere;
    result = Run(exchange)["result"];
    ASSERT_TRUE(result.is_object());
  }
  EXPECT_EQ(result["models"]["state"], "ended");
  EXPECT_THAT(result["variant"]["source"].get<std::string>(), HasSubstr("fast"));
  EXPECT_THAT(WrittenByModels(result), Contains(result["variant"]["id"]));
  EXPECT_EQ(std::set<std::string>(evaluated_.begin(), evaluated_.end()).size(), evaluated_.size())
      << "what was evaluated was evaluated again";
  EXPECT_EQ(seen_.size(), result["models"]["requests"].get<std::size_t>());
}

TEST_F(OnceModelsTest, AFolderOfAnotherKernelIsRefused) {
  const std::string exchange = folder_ / "exchange";
  Run(exchange);
  const Json error = Run(exchange, nullptr, {{"kernel", "two"}})["error"];
  EXPECT_EQ(error["code"], "invalid_argument");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("belongs to another kernel, one"));
}

TEST_F(OnceModelsTest, AServiceNeedsTheUsersWord) {
  test::AnsweringProvider service(test::MechanicsAnswer);
  const Json error = Run("", &service)["error"];
  EXPECT_EQ(error["code"], "invalid_argument");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("--allow-provider"));
  EXPECT_THAT(error["message"].get<std::string>(),
              HasSubstr("cupilot models allow \"openai https://api.x.com\""));
  EXPECT_THAT(service.asked(), IsEmpty());
}

TEST_F(OnceModelsTest, AServiceIsAskedWhereItIsAllowed) {
  for (const Json& word :
       {Json{{"allow_provider", true}}, Json{{"allowed", {"openai https://api.x.com"}}}}) {
    test::AnsweringProvider service(test::MechanicsAnswer);
    const Json result = Run("", &service, word)["result"];
    EXPECT_THAT(service.asked(), Not(IsEmpty())) << word;
    EXPECT_EQ(result["models"]["state"], "ended");
    EXPECT_EQ(result["models"]["open_requests"], 0);
  }
}

}  // namespace
}  // namespace cupilot::service
