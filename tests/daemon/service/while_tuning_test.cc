// Requests are answered while kernels are tuned, and tuning goes on while many are asked: over the
// daemon's socket, on the loop that both share.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "loop/zmq_client.h"
#include "loop/zmq_server.h"
#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

class WhileTuningTest : public ServiceTest {
 protected:
  ~WhileTuningTest() override {
    client_.reset();
    server_.reset();
  }

  void Serve() {
    requests_ = std::make_unique<Requests>(*service_, state(), [] {});
    auto server = loop::ZmqServer::Listen(*loop_, folder_ / "socket",
                                          [this](const std::string& peer, std::string_view m) {
                                            log_ += 'r';
                                            server_->Send(peer, requests_->Handle(peer, m));
                                          });
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    auto client = loop::ZmqClient::Connect(folder_ / "socket");
    ASSERT_TRUE(client) << client.error().message;
    client_ = std::move(*client);
  }
  void Ask(const std::string& verb, const records::Json& params = records::Json::object()) {
    ASSERT_TRUE(client_->Send(records::Json{{"id", 1}, {"verb", verb}, {"params", params}}.dump()));
  }
  // The reply; nothing but the loop runs meanwhile.
  records::Json Reply() {
    while (!client_->Wait({}, std::chrono::milliseconds(1))->message) loop_->RunOnce(false);
    const auto reply = client_->Receive(std::chrono::seconds(60));
    return records::ParseJson(*reply).value_or(records::Json());
  }
  // One turn of the loop, and what is asked of workers meanwhile. An evaluation ends in each.
  void TakeTurn() {
    log_ += ' ';
    loop_->RunOnce(false);
    workers_.RunAll();
    if (evaluator_.AnswerOne()) log_ += 'e';
  }

  std::unique_ptr<Requests> requests_;
  std::unique_ptr<loop::ZmqServer> server_;
  std::unique_ptr<loop::ZmqClient> client_;
  std::string log_;  // r: a request was answered, e: an evaluation ended; a blank: the next turn
};

TEST_F(WhileTuningTest, WhatIsUnderWayKeepsNobodyWaiting) {
  Prepare("kernel k a\n");
  Start();
  WorkUntilEvaluating();
  ASSERT_NO_FATAL_FAILURE(Serve());
  for (const char* verb : {"status", "list", "explain", "history"}) {
    Ask(verb, {{"kernel", "k"}});
    const records::Json reply = Reply();
    EXPECT_TRUE(reply.contains("result")) << verb << ": " << reply.dump();
    if (verb == std::string("status")) {
      EXPECT_EQ(reply["result"]["state"], "tuning");
      EXPECT_EQ(reply["result"]["now"][0]["kernel"], "k");
    }
  }
  EXPECT_EQ(evaluator_.open(), 1u);
  EXPECT_EQ(service_->counters().evaluations, 0);
}

TEST_F(WhileTuningTest, StepsAndManyRequestsTakeTurns) {
  std::string source;
  for (int i = 0; i < 60; ++i) source += "kernel k" + std::to_string(i) + " a\n";
  Prepare(source);
  Start();
  WorkUntilEvaluating();
  ASSERT_NO_FATAL_FAILURE(Serve());
  constexpr int kRequests = 600;
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_NO_FATAL_FAILURE(Ask(i % 8 == 0 ? "status" : "ping"));
  }
  while (std::count(log_.begin(), log_.end(), 'r') < kRequests) TakeTurn();
  const std::string during = log_.substr(0, log_.rfind('r'));
  // No more than this many in a turn, and a step that ends begins the next one in between.
  EXPECT_EQ(during.find(std::string(65, 'r')), std::string::npos) << during;
  EXPECT_GE(std::count(during.begin(), during.end(), 'e'), kRequests / 64 - 1) << during;
  EXPECT_NE(service_->IdleReason(), "done") << "all requests were to be asked while it tuned";
}

}  // namespace
}  // namespace cupilot::service
