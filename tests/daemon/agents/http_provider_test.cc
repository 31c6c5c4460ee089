#include "agents/http_provider.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agents/anthropic_format.h"
#include "agents/openai_format.h"
#include "tests/support/manual_alarms.h"
#include "tests/support/mock_http_server.h"

namespace cupilot::agents {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::HttpAnswer;
using test::HttpStreamHead;
using test::MockHttpServer;
using test::RunUntil;

std::string Chunk(const std::string& text) {
  return "data: " + records::Json{{"choices", {{{"delta", {{"content", text}}}}}}}.dump() + "\n\n";
}
const char* const kDone =
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n"
    "data: [DONE]\n\n";

// A provider that talks to a server of the test, whose time passes when the test says so.
class HttpProviderTest : public testing::Test {
 protected:
  using Reply = std::function<void(const MockHttpServer::Request&, MockHttpServer::Peer&)>;

  HttpProviderTest()
      : server_(loop_, [this](const auto& request, auto& peer) {
          peer_ = &peer;
          if (reply_) reply_(request, peer);
        }) {}

  void Make(HttpProvider::Settings settings = {}) {
    settings.kind = "openai";
    settings.address = server_.url();
    settings.key = base::Secret("sk-of-the-test");
    auto made = HttpProvider::Create({client_, alarms_, clock_, random_},
                                     std::make_unique<OpenAiFormat>(), std::move(settings));
    ASSERT_TRUE(made) << made.error().message;
    provider_ = std::move(*made);
  }

  void Ask() {
    ModelRequest request;
    request.model = "m";
    request.prompt = "why?";
    call_ = provider_->Send(
        std::move(request), [this](std::string_view text) { streamed_ += text; },
        [this](ModelResult result) {
          EXPECT_FALSE(result_.has_value()) << "called twice";
          result_ = std::move(result);
        });
    EXPECT_FALSE(result_.has_value());
  }
  void Wait() {
    RunUntil(loop_, [this] { return result_.has_value(); });
  }
  void AskAndWait() {
    Ask();
    Wait();
  }
  Failure why() const { return *result_ ? Failure::kInternal : result_->error().why; }
  // Runs until the next attempt waits, lets that time pass, and tells how long it was.
  milliseconds PassTheWait() {
    RunUntil(loop_, [this] { return alarms_.Next() && *alarms_.Next() < seconds(100); });
    const milliseconds wait = *alarms_.Next();
    alarms_.Advance(wait);
    return wait;
  }

  loop::Loop loop_;
  loop::HttpClient client_{loop_};
  test::ManualClock clock_;
  test::ManualAlarms alarms_{clock_};
  base::UniqueFunction<double()> random_ = [] { return 0.0; };
  MockHttpServer::Peer* peer_ = nullptr;
  Reply reply_;
  MockHttpServer server_;
  std::unique_ptr<HttpProvider> provider_;
  std::string streamed_;
  std::optional<ModelResult> result_;
  std::unique_ptr<ModelCall> call_;
};

TEST_F(HttpProviderTest, StreamsAnAnswer) {
  Make();
  Ask();
  RunUntil(loop_, [this] { return peer_ != nullptr; });
  peer_->Send(HttpStreamHead() + Chunk("Be"));
  RunUntil(loop_, [this] { return streamed_ == "Be"; });
  EXPECT_FALSE(result_.has_value());
  peer_->Send(Chunk("cause") + kDone);  // and the connection stays open
  Wait();
  ASSERT_TRUE(*result_) << (*result_).error().message;
  EXPECT_EQ((*result_)->text, "Because");
  EXPECT_EQ((*result_)->usage.output, 4);
  EXPECT_EQ((*result_)->attempts, 1);
  const auto& request = server_.requests().at(0);
  EXPECT_EQ(request.head.rfind("POST /v1/chat/completions ", 0), 0u);
  EXPECT_EQ(request.Header("authorization"), "Bearer sk-of-the-test");
  ModelRequest same;
  same.model = "m";
  same.prompt = "why?";
  EXPECT_EQ(request.body, provider_->Bytes(same));
  EXPECT_EQ(provider_->Bytes(same).find("sk-of"), std::string::npos);
  EXPECT_FALSE(alarms_.Next()) << "a timer is left";
}

TEST_F(HttpProviderTest, TooManyRequestsWaitsAsLongAsItIsTold) {
  Make();
  reply_ = [this](const auto&, auto& peer) {
    peer.Send(server_.requests().size() == 1 ? HttpAnswer(429, "{}", {{"Retry-After", "7"}})
                                             : HttpStreamHead() + Chunk("ok") + kDone);
  };
  Ask();
  EXPECT_EQ(PassTheWait(), seconds(7));
  Wait();
  ASSERT_TRUE(*result_);
  EXPECT_EQ((*result_)->attempts, 2);
  EXPECT_EQ(server_.requests()[0].body, server_.requests()[1].body);
}

TEST_F(HttpProviderTest, AFailingServerIsAskedFourTimes) {
  Make();
  reply_ = [](const auto&, auto& peer) { peer.Send(HttpAnswer(500, "<html>boom</html>")); };
  Ask();
  EXPECT_EQ(PassTheWait(), milliseconds(500));
  EXPECT_EQ(PassTheWait(), milliseconds(1000));
  EXPECT_EQ(PassTheWait(), milliseconds(2000));
  Wait();
  EXPECT_EQ(why(), Failure::kOverloaded);
  EXPECT_EQ(result_->error().attempts, 4);
  EXPECT_FALSE(result_->error().may_cost);
  EXPECT_EQ(server_.requests().size(), 4u);
}

TEST_F(HttpProviderTest, MoneyThatIsOutIsNotAskedForAgain) {
  Make();
  reply_ = [](const auto&, auto& peer) {
    peer.Send(HttpAnswer(429,
                         R"({"error":{"type":"insufficient_quota",
                             "code":"credit_balance_exhausted","message":"no credits"}})",
                         {{"Retry-After", "1"}}));
  };
  AskAndWait();
  EXPECT_EQ(why(), Failure::kNoMoney);
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(HttpProviderTest, AServerThatHangsCostsOneAttempt) {
  Make({.silence = seconds(300), .total = seconds(1200)});
  Ask();
  RunUntil(loop_, [this] { return peer_ != nullptr; });
  alarms_.Advance(seconds(299));
  EXPECT_FALSE(result_.has_value());
  alarms_.Advance(seconds(1));
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ(why(), Failure::kTimeout);
  EXPECT_TRUE(result_->error().may_cost);
  RunUntil(loop_, [this] { return peer_->closed_by_client(); });
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(HttpProviderTest, AStreamThatFallsSilentIsLeft) {
  Make({.silence = seconds(300), .total = seconds(1200)});
  Ask();
  RunUntil(loop_, [this] { return peer_ != nullptr; });
  alarms_.Advance(seconds(200));
  peer_->Send(HttpStreamHead() + Chunk("half"));
  RunUntil(loop_, [this] { return streamed_ == "half"; });
  alarms_.Advance(seconds(200));
  EXPECT_FALSE(result_.has_value()) << "a sign of life starts the silence anew";
  alarms_.Advance(seconds(100));
  EXPECT_EQ(why(), Failure::kTimeout);
  EXPECT_EQ(result_->error().partial, "half");
}

TEST_F(HttpProviderTest, AnAnswerThatNeverEndsIsLeft) {
  Make({.silence = seconds(300), .total = seconds(1200)});
  Ask();
  RunUntil(loop_, [this] { return peer_ != nullptr; });
  peer_->Send(HttpStreamHead());
  for (int i = 0; i < 11; ++i) {
    const std::size_t before = streamed_.size();
    peer_->Send(Chunk("x"));
    RunUntil(loop_, [&] { return streamed_.size() > before; });
    alarms_.Advance(seconds(100));
    EXPECT_FALSE(result_.has_value());
  }
  alarms_.Advance(seconds(100));
  EXPECT_EQ(why(), Failure::kTimeout);
}

TEST_F(HttpProviderTest, AStreamThatIsClosedCostsOneAttempt) {
  Make();
  reply_ = [](const auto&, auto& peer) {
    peer.Send(HttpStreamHead() + Chunk("half"));
    peer.Close();
  };
  AskAndWait();
  EXPECT_EQ(why(), Failure::kBroken);
  EXPECT_EQ(result_->error().partial, "half");
  EXPECT_TRUE(result_->error().may_cost);
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(HttpProviderTest, AConnectionThatIsClosedInTheMidstOfAPieceIsBroken) {
  Make();
  reply_ = [](const auto&, auto& peer) {
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + Chunk("half") + "data: {\"cho");
    peer.Close();
  };
  AskAndWait();
  EXPECT_EQ(why(), Failure::kBroken);
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(HttpProviderTest, GarbageCostsOneAttempt) {
  Make();
  std::string garbage;
  for (int i = 0; i < 100000; ++i) garbage += static_cast<char>((i * 7919) % 251);
  reply_ = [&garbage](const auto&, auto& peer) {
    peer.Send(HttpStreamHead() + "data: " + garbage + "\n\n");
  };
  AskAndWait();
  EXPECT_EQ(why(), Failure::kMalformed);
  EXPECT_EQ(server_.requests().size(), 1u);
  EXPECT_FALSE(alarms_.Next());
}

TEST_F(HttpProviderTest, AGigabyteCostsOneAttempt) {
  Make({.max_bytes = 1 << 20});
  reply_ = [](const auto&, auto& peer) {
    peer.Send(HttpStreamHead());
    peer.SendEndlessly(Chunk(std::string(60000, 'x')), std::uint64_t{1} << 30);
  };
  AskAndWait();
  EXPECT_EQ(why(), Failure::kTooLarge);
  EXPECT_TRUE(result_->error().may_cost);
  EXPECT_LE(streamed_.size(), std::size_t{1} << 20);
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(HttpProviderTest, AHugeErrorIsStillThatError) {
  Make({.max_bytes = 1 << 20});
  reply_ = [](const auto&, auto& peer) {
    peer.Send("HTTP/1.1 404 No\r\nConnection: close\r\n\r\n");
    peer.SendEndlessly(std::string(60000, 'x'), std::uint64_t{1} << 30);
  };
  AskAndWait();
  EXPECT_EQ(why(), Failure::kUnknownModel);
}

TEST_F(HttpProviderTest, TheKeyIsInNoError) {
  Make();
  reply_ = [](const auto& request, auto& peer) {
    const std::string told = request.Header("authorization");
    peer.Send(HttpAnswer(400, records::Json{{"error", {{"message", "bad " + told}}}}.dump()));
  };
  AskAndWait();
  EXPECT_EQ(why(), Failure::kRejected);
  EXPECT_EQ(result_->error().message, "status 400: bad Bearer ***");
}

TEST_F(HttpProviderTest, CancellingClosesTheConnection) {
  Make();
  Ask();
  RunUntil(loop_, [this] { return peer_ != nullptr; });
  call_.reset();
  RunUntil(loop_, [this] { return peer_->closed_by_client(); });
  EXPECT_FALSE(result_.has_value());
  EXPECT_FALSE(alarms_.Next());
}

TEST_F(HttpProviderTest, CancellingWhileItWaitsSendsNothingMore) {
  Make();
  reply_ = [](const auto&, auto& peer) { peer.Send(HttpAnswer(503, "")); };
  Ask();
  RunUntil(loop_, [this] { return alarms_.Next() && *alarms_.Next() < seconds(100); });
  call_.reset();
  alarms_.Advance(seconds(1000));
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(HttpProviderTest, MayBeCancelledByItsOwnText) {
  Make();
  reply_ = [](const auto&, auto& peer) { peer.Send(HttpStreamHead() + Chunk("x") + kDone); };
  ModelRequest request;
  request.model = "m";
  request.prompt = "why?";
  int texts = 0;
  call_ = provider_->Send(
      std::move(request),
      [&](std::string_view) {
        ++texts;
        call_.reset();
      },
      [](const ModelResult&) { FAIL(); });
  RunUntil(loop_, [this] { return peer_ != nullptr && peer_->closed_by_client(); });
  EXPECT_EQ(texts, 1);
}

TEST_F(HttpProviderTest, SaysToWhomItTalks) {
  Make();
  EXPECT_EQ(provider_->name(), "openai " + server_.url());
}

TEST_F(HttpProviderTest, AKeyGoesNowhereUnencrypted) {
  const auto make = [this](const std::string& address, const std::string& key) {
    HttpProvider::Settings settings;
    settings.kind = "openai";
    settings.address = address;
    settings.key = base::Secret(key);
    return HttpProvider::Create({client_, alarms_, clock_, random_},
                                std::make_unique<OpenAiFormat>(), std::move(settings));
  };
  const auto refused = make("http://example.com", "sk-1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("sk-1"), std::string::npos);
  EXPECT_TRUE(make("https://example.com", "sk-1"));
  EXPECT_TRUE(make("http://localhost:8080", "sk-1"));
  EXPECT_TRUE(make("http://example.com", ""));
  EXPECT_FALSE(make("https://me:secret@example.com", ""));
  EXPECT_FALSE(make("example", ""));
}

}  // namespace
}  // namespace cupilot::agents
