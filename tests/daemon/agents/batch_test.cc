// Batches: their lines, the services' interfaces, and what carries a folder there and back.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agents/batch_format.h"
#include "agents/batch_runner.h"
#include "agents/batch_service.h"
#include "agents/exchange_provider.h"
#include "agents/guarded_provider.h"
#include "base/file.h"
#include "cache/memory_store.h"
#include "tests/support/manual_alarms.h"
#include "tests/support/mock_http_server.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

using records::Json;
using std::chrono::seconds;
using test::HttpAnswer;
using test::MockHttpServer;

ModelRequest BatchQuestion(const std::string& prompt = "why?") {
  ModelRequest request;
  request.role = "strategist.v1";
  request.model = "m";
  request.prompt = prompt;
  request.max_tokens = 10;
  request.project = "project";
  request.kernel = "kernel";
  return request;
}

std::string AnthropicLine(const std::string& id, const std::string& text,
                          const std::string& reason = "end_turn") {
  return Json{
             {"custom_id", id},
             {"result",
              {{"type", "succeeded"},
               {"message",
                {{"type", "message"},
                 {"model", "m-2"},
                 {"content",
                  {{{"type", "thinking"}, {"thinking", "hm"}}, {{"type", "text"}, {"text", text}}}},
                 {"stop_reason", reason},
                 {"usage", {{"input_tokens", 5}, {"output_tokens", 6}}}}}}}}
             .dump() +
         "\n";
}

TEST(AnthropicBatchFormat, WritesAndReadsLines) {
  const AnthropicBatchFormat format;
  const Json line = *records::ParseJson(format.Line("id-1", BatchQuestion()));
  EXPECT_EQ(line, *records::ParseJson(R"({"custom_id": "id-1", "params": {"model": "m",
      "max_tokens": 10, "messages": [{"role": "user", "content": "why?"}]}})"));
  const ModelResult answer = format.ResultOf(*records::ParseJson(AnthropicLine("i", "because")));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "because");
  EXPECT_EQ(answer->usage.output, 6);
  const auto why = [&format](const std::string& text) {
    const ModelResult result = format.ResultOf(*records::ParseJson(text));
    EXPECT_FALSE(result);
    return result ? Failure::kInternal : result.error().why;
  };
  EXPECT_EQ(why(AnthropicLine("i", "half", "max_tokens")), Failure::kTruncated);
  EXPECT_EQ(why(R"({"result": {"type": "expired"}})"), Failure::kTimeout);
  EXPECT_EQ(why(R"({"result": {"type": "errored", "error": {"type": "error", "error":
                    {"type": "invalid_request_error", "message": "x"}}}})"),
            Failure::kRejected);
  EXPECT_EQ(why(R"({"result": {"type": "succeeded"}})"), Failure::kMalformed);
  EXPECT_EQ(why(format.LostLine("i")), Failure::kBroken);
  EXPECT_EQ(why("{}"), Failure::kRejected);
}

TEST(OpenAiBatchFormat, ReadsWhatIsNoAnswer) {
  const OpenAiBatchFormat format;
  const ModelResult expired = format.ResultOf(
      *records::ParseJson(R"({"response": null, "error": {"code": "batch_expired"}})"));
  EXPECT_EQ(expired.error().why, Failure::kTimeout);
  EXPECT_FALSE(expired.error().may_cost);
  const ModelResult lost = format.ResultOf(*records::ParseJson(format.LostLine("i")));
  EXPECT_EQ(lost.error().why, Failure::kBroken);
  EXPECT_TRUE(lost.error().may_cost);
}

class BatchTest : public testing::Test {
 protected:
  using Reply = std::function<void(const MockHttpServer::Request&, MockHttpServer::Peer&)>;
  BatchTest()
      : server_(loop_, [this](const auto& request, auto& peer) {
          if (reply_) reply_(request, peer);
        }) {}

  static std::string Target(const MockHttpServer::Request& request) {
    return request.head.substr(0, request.head.find(" HTTP"));
  }
  BatchServiceSettings Settings() const {
    BatchServiceSettings settings;
    settings.address = server_.url();
    settings.key = base::Secret("sk-of-the-test");
    return settings;
  }
  // A process begins.
  void Start(bool anthropic = true) {
    runner_.reset();
    const HttpSurroundings surroundings{client_, alarms_, clock_, random_};
    auto service = anthropic ? MakeAnthropicBatches(surroundings, Settings())
                             : MakeOpenAiBatches(surroundings, Settings());
    ASSERT_TRUE(service) << service.error().message;
    service_ = std::move(*service);
    std::unique_ptr<BatchFormat> lines;
    if (anthropic) {
      format_ = std::make_unique<AnthropicBatchFormat>();
      lines = std::make_unique<AnthropicBatchFormat>();
    } else {
      format_ = std::make_unique<OpenAiBatchFormat>();
      lines = std::make_unique<OpenAiBatchFormat>();
    }
    provider_ = std::make_unique<ExchangeProvider>(alarms_, folder_.path(), std::move(lines),
                                                   "anthropic https://api.x.com");
    BatchRunner::Settings settings;
    settings.folder = folder_.path();
    runner_ = std::make_unique<BatchRunner>(alarms_, *service_, *format_, settings);
    const auto started = runner_->Start();
    ASSERT_TRUE(started) << started.error().message;
  }
  ModelResult Ask(Provider& provider, const ModelRequest& request) {
    std::optional<ModelResult> result;
    const auto call = provider.Send(request, nullptr,
                                    [&result](ModelResult given) { result = std::move(given); });
    alarms_.Advance(std::chrono::milliseconds(0));
    return std::move(*result);
  }
  // The runner looks, and has finished when it rests again.
  void Look() {
    alarms_.Advance(seconds(300));
    Settle();
  }
  void Settle() {
    test::RunUntil(loop_, [this] {
      const auto next = alarms_.Next();
      loop_.Post([] {});  // so that RunUntil comes back
      return next && *next == seconds(300) && Idle();
    });
  }
  bool Idle() const { return server_.requests().size() == answered_; }

  loop::Loop loop_;
  loop::HttpClient client_{loop_};
  test::ManualClock clock_;
  test::ManualAlarms alarms_{clock_};
  base::UniqueFunction<double()> random_ = [] { return 0.0; };
  Reply reply_;
  std::size_t answered_ = 0;
  test::TemporaryFolder folder_;
  MockHttpServer server_;
  std::unique_ptr<BatchService> service_;
  std::unique_ptr<BatchFormat> format_;
  std::unique_ptr<ExchangeProvider> provider_;
  std::unique_ptr<BatchRunner> runner_;
};

TEST_F(BatchTest, CarriesRequestsToAnthropicAndBack) {
  const std::string id = ExchangeProvider::IdOf(BatchQuestion());
  const std::string other = ExchangeProvider::IdOf(BatchQuestion("how?"));
  bool ended = false;
  reply_ = [&](const auto& request, auto& peer) {
    ++answered_;
    EXPECT_EQ(request.Header("x-api-key"), "sk-of-the-test");
    EXPECT_FALSE(request.Header("anthropic-version").empty());
    const std::string target = Target(request);
    if (target == "POST /v1/messages/batches") {
      const Json body = *records::ParseJson(request.body);
      EXPECT_EQ(body["requests"].size(), 2u);
      EXPECT_EQ(body["requests"][0]["params"]["max_tokens"], 10);
      peer.Send(HttpAnswer(200, R"({"id": "msgbatch_1", "processing_status": "in_progress"})"));
    } else if (target == "GET /v1/messages/batches/msgbatch_1") {
      peer.Send(HttpAnswer(200, ended ? R"({"id": "msgbatch_1", "processing_status": "ended",
                                           "results_url": "https://evil.example/"})"
                                      : R"({"processing_status": "in_progress"})"));
    } else if (target == "GET /v1/messages/batches/msgbatch_1/results") {
      peer.Send(HttpAnswer(200, AnthropicLine(id, "because")));  // the other one is missing
    } else {
      ADD_FAILURE() << target;
      peer.Send(HttpAnswer(404, ""));
    }
  };
  Start();
  EXPECT_EQ(Ask(*provider_, BatchQuestion()).error().why, Failure::kPending);
  Look();  // one look for others
  EXPECT_EQ(runner_->open(), 0u);
  EXPECT_EQ(Ask(*provider_, BatchQuestion("how?")).error().why, Failure::kPending);
  Look();
  EXPECT_EQ(runner_->open(), 1u) << runner_->problem();
  Start();  // another process
  Settle();
  EXPECT_EQ(runner_->open(), 1u);
  Look();
  Look();
  EXPECT_EQ(Ask(*provider_, BatchQuestion()).error().why, Failure::kPending);
  ended = true;
  Look();
  EXPECT_EQ(runner_->open(), 0u) << runner_->problem();
  const ModelResult answer = Ask(*provider_, BatchQuestion());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "because");
  EXPECT_FALSE(answer->repeated);
  EXPECT_TRUE(Ask(*provider_, BatchQuestion())->repeated);
  const ModelResult missing = Ask(*provider_, BatchQuestion("how?"));
  EXPECT_EQ(missing.error().why, Failure::kBroken);
  EXPECT_TRUE(missing.error().may_cost);
  Look();
  Look();
  Look();
  int created = 0;
  for (const auto& request : server_.requests()) {
    created += Target(request) == "POST /v1/messages/batches" ? 1 : 0;
  }
  EXPECT_EQ(created, 1);
  EXPECT_EQ(other.size(), id.size());
}

TEST_F(BatchTest, CarriesRequestsToOpenAiAndBack) {
  const std::string id = ExchangeProvider::IdOf(BatchQuestion());
  reply_ = [&](const auto& request, auto& peer) {
    ++answered_;
    EXPECT_EQ(request.Header("authorization"), "Bearer sk-of-the-test");
    const std::string target = Target(request);
    if (target == "POST /v1/files") {
      const std::string type = request.Header("content-type");
      const std::string boundary = type.substr(type.find("boundary=") + 9);
      EXPECT_NE(request.body.find("--" + boundary + "\r\n"), std::string::npos);
      EXPECT_NE(request.body.find("name=\"purpose\"\r\n\r\nbatch\r\n"), std::string::npos);
      EXPECT_NE(request.body.find("\r\n\r\n" + provider_->Bytes(BatchQuestion())),
                std::string::npos);
      EXPECT_TRUE(request.body.ends_with("--" + boundary + "--\r\n"));
      peer.Send(HttpAnswer(200, R"({"id": "file-1"})"));
    } else if (target == "POST /v1/batches") {
      EXPECT_EQ(*records::ParseJson(request.body),
                *records::ParseJson(R"({"input_file_id": "file-1", "completion_window": "24h",
                                        "endpoint": "/v1/chat/completions"})"));
      peer.Send(HttpAnswer(200, R"({"id": "batch_1", "status": "validating"})"));
    } else if (target == "GET /v1/batches/batch_1") {
      peer.Send(HttpAnswer(200, R"({"id": "batch_1", "status": "expired",
                                   "output_file_id": "file-2", "error_file_id": "file-3"})"));
    } else if (target == "GET /v1/files/file-2/content") {
      peer.Send(HttpAnswer(
          200,
          Json{
              {"custom_id", id},
              {"response",
               {{"status_code", 200},
                {"body",
                 {{"choices", {{{"message", {{"content", "yes"}}}, {"finish_reason", "stop"}}}}}}}},
              {"error", nullptr}}
              .dump()));
    } else if (target == "GET /v1/files/file-3/content") {
      peer.Send(HttpAnswer(200, ""));
    } else {
      ADD_FAILURE() << target;
      peer.Send(HttpAnswer(404, ""));
    }
  };
  Start(false);
  (void)Ask(*provider_, BatchQuestion());
  Look();
  Look();
  EXPECT_EQ(runner_->open(), 1u) << runner_->problem();
  Look();
  const ModelResult answer = Ask(*provider_, BatchQuestion());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "yes");
}

TEST_F(BatchTest, WhatTheServiceDoesNotTakeIsSentLater) {
  int asked = 0;
  reply_ = [&](const auto&, auto& peer) {
    ++answered_;
    peer.Send(++asked == 1 ? HttpAnswer(529, "{}") : HttpAnswer(200, R"({"id": "msgbatch_1"})"));
  };
  Start();
  (void)Ask(*provider_, BatchQuestion());
  Look();
  Look();
  EXPECT_EQ(runner_->open(), 0u);
  EXPECT_NE(runner_->problem().find("529"), std::string::npos);
  Look();
  Look();
  EXPECT_EQ(runner_->open(), 1u) << runner_->problem();
}

TEST_F(BatchTest, WhatMayHaveBeenTakenIsNotSentTwice) {
  reply_ = [&](const auto&, auto& peer) {
    ++answered_;
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id");
    peer.Close();
  };
  Start();
  (void)Ask(*provider_, BatchQuestion());
  Look();
  Look();
  EXPECT_EQ(Ask(*provider_, BatchQuestion()).error().why, Failure::kBroken);
  Look();
  Look();
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(BatchTest, NorIsWhatAKilledProcessWasSending) {
  Start();
  (void)Ask(*provider_, BatchQuestion());
  folder_.Write("batches/creating.json",
                Json{{"requests", {ExchangeProvider::IdOf(BatchQuestion())}}}.dump());
  Start();
  const ModelResult result = Ask(*provider_, BatchQuestion());
  EXPECT_EQ(result.error().why, Failure::kBroken);
  EXPECT_TRUE(result.error().may_cost);
  EXPECT_FALSE(base::FileExists(folder_ / "batches/creating.json"));
  Start();
  Look();
  Look();
  EXPECT_TRUE(server_.requests().empty());
}

// Money for a batch is held across processes, spent once, at the price of batches.
TEST_F(BatchTest, IsPaidForOnce) {
  const std::string file = folder_.Write("p/prices.json", R"({
      "schema": "cupilot.model_prices/1", "prices": [
      {"origin": "https://api.x.com", "model": "m", "from": "2020-01-01", "source": "s",
       "input": 1000, "output": 2000, "batch": 0.5}]})");
  const PriceTable prices = *PriceTable::Load({file});
  cache::MemoryStore store;
  Consent consent(store, clock_);
  ExchangeLog log(store, clock_, folder_ / "exchanges", {});
  const SpendingLimits limits{1'000'000'000, 1'000'000'000, 1'000'000'000};
  Start();
  ASSERT_TRUE(consent.Allow("project", provider_->name()));
  const auto ask = [&](bool restart = true) {
    auto budget = std::make_unique<Budget>(store, clock_, limits);
    if (restart) {
      EXPECT_TRUE(budget->Adopt());
    }
    GuardedProvider guarded(*provider_, {alarms_, clock_, consent, *budget, prices, log}, {}, {});
    ModelResult result = Ask(guarded, BatchQuestion());
    return std::pair(std::move(result), budget->Sums("kernel")->day);
  };
  const auto [pending, held] = ask();
  EXPECT_EQ(pending.error().why, Failure::kPending);
  EXPECT_EQ(held, static_cast<NanoDollars>(provider_->Bytes(BatchQuestion()).size()) * 500'000 +
                      10 * 1'000'000);
  EXPECT_EQ(ask().second, held) << "asked again, by another process";
  folder_.Write("answers/a.jsonl",
                AnthropicLine(ExchangeProvider::IdOf(BatchQuestion()), "because"));
  const auto [answer, spent] = ask();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->cost, 5 * 500'000 + 6 * 1'000'000);
  EXPECT_EQ(spent, answer->cost);
  const auto [again, still] = ask();
  EXPECT_TRUE(again);
  EXPECT_EQ(still, spent);
}

}  // namespace
}  // namespace cupilot::agents
