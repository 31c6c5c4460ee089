// The verbs about language models.
#include "service/models.h"

#include "base/file.h"
#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using records::Json;

class ModelsTest : public ServiceTest {
 protected:
  void SetUp() override {
    settings_.models.limits = {1'000'000'000, 2'000'000'000, 3'000'000'000};
    Prepare("__global__ void blur() {}");
    Start();
    Drain();
    requests_ = std::make_unique<Requests>(*service_, state(), [] {});
  }
  Json Ask(const std::string& verb, const Json& params = Json::object()) {
    const Json message = {{"id", 1}, {"verb", verb}, {"params", params}};
    return *records::ParseJson(requests_->Handle("peer", message.dump()));
  }
  std::string Folder() const { return service_->projects().begin()->second.source_folder; }

  std::unique_ptr<Requests> requests_;
};

TEST_F(ModelsTest, NothingWasAskedAndNothingIsAllowed) {
  const Json models = Ask("models", {{"folder", Folder()}})["result"];
  EXPECT_EQ(models["schema"], "cupilot.models/1");
  EXPECT_EQ(models["models"], "none");
  EXPECT_EQ(models["limits"]["day_dollars"], 2.0);
  EXPECT_EQ(models["spent"]["day_dollars"], 0.0);
  EXPECT_EQ(models["project"], Folder());
  EXPECT_TRUE(models["totals"].empty());
  EXPECT_TRUE(models["allowed"].empty());
  EXPECT_EQ(Ask("models_last")["error"]["code"], "not_found");
}

TEST_F(ModelsTest, AProviderIsAllowedForOneProject) {
  const Json params = {{"folder", Folder()}, {"provider", "openai https://api.openai.com"}};
  const Json allowed = Ask("models_allow", params)["result"]["allowed"];
  ASSERT_EQ(allowed.size(), 1u);
  EXPECT_EQ(allowed[0]["provider"], "openai https://api.openai.com");
  EXPECT_TRUE(*service_->models().consent().Allowed(ModelProject(Folder()),
                                                    "openai https://api.openai.com"));
  EXPECT_TRUE(Ask("models_forbid", params)["result"]["allowed"].empty());
  EXPECT_EQ(Ask("models_allow", {{"folder", "/elsewhere"}, {"provider", "x"}})["error"]["code"],
            "not_found");
  EXPECT_EQ(Ask("models_allow", {{"folder", Folder()}})["error"]["code"], "invalid_argument");
}

TEST_F(ModelsTest, WhatIsNoProviderIsNotAllowed) {
  for (const char* name : {"foo", "openai", "openai:gpt", "openai-batch https://api.openai.com"}) {
    const Json error = Ask("models_allow", {{"folder", Folder()}, {"provider", name}})["error"];
    EXPECT_EQ(error["code"], "invalid_argument") << name;
    EXPECT_NE(error["message"].dump().find("there are: openai ADDRESS"), std::string::npos);
  }
  for (const char* name : {"ollama http://127.0.0.1:11434", "command my-model -v", "replay"}) {
    EXPECT_TRUE(Ask("models_allow", {{"folder", Folder()}, {"provider", name}}).contains("result"));
  }
  // What was allowed once can always be taken back.
  EXPECT_TRUE(Ask("models_forbid", {{"folder", Folder()}, {"provider", "foo"}}).contains("result"));
}

TEST_F(ModelsTest, ShowsWhatWasSpentAndSaidLast) {
  Models& models = service_->models();
  const auto id = models.budget().Reserve({"kernel", "p", "m"}, 500'000'000);
  ASSERT_TRUE(id);
  ASSERT_TRUE(models.budget().Settle(*id, 250'000'000, {true, 10, 0, 0, 5}, true));
  ASSERT_TRUE(models.budget().AddGain("p", "m", 0.5));
  agents::ExchangeRecord record{};
  record.request.role = "strategist.v1";
  record.request.prompt = "why?";
  record.sent = "exact bytes";
  ASSERT_TRUE(models.log().Add(record));
  const Json document = Ask("models")["result"];
  EXPECT_EQ(document["spent"]["month_dollars"], 0.25);
  ASSERT_EQ(document["totals"].size(), 1u);
  EXPECT_EQ(document["totals"][0]["output_tokens"], 5);
  EXPECT_EQ(document["totals"][0]["dollars"], 0.25);
  EXPECT_EQ(document["totals"][0]["gain"], 0.5);
  const std::string path = Ask("models_last")["result"]["document"];
  EXPECT_EQ((*records::ParseJson(*base::ReadFile(path)))["sent"], "exact bytes");
  record.request.prompt = "why not?";
  ASSERT_TRUE(models.log().Add(record));
  const Json all = Ask("models_last", {{"all", true}})["result"];
  EXPECT_EQ(all["count"], 2);
  const auto exchanges = agents::ReadExchanges(all["document"]);
  ASSERT_TRUE(exchanges) << exchanges.error().message;
  ASSERT_EQ(exchanges->size(), 2u);
  EXPECT_EQ((*exchanges)[0].request.prompt, "why?");
  EXPECT_EQ((*exchanges)[1].request.prompt, "why not?");
}

}  // namespace
}  // namespace cupilot::service
