#include "loop/http_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/mock_http_server.h"

namespace cupilot::loop {
namespace {

using test::HttpAnswer;
using test::HttpStreamHead;
using test::MockHttpServer;
using test::RunUntil;

// A request and what came of it.
struct Asked {
  std::string body;
  std::vector<std::string> pieces;
  std::optional<HttpResult> result;
  std::unique_ptr<HttpTransfer> transfer;

  void Ask(HttpClient& client, HttpRequest request) {
    transfer = client.Start(
        std::move(request),
        [this](const HttpHead& head, std::string_view bytes) {
          EXPECT_NE(head.status, 0);
          body += bytes;
          pieces.emplace_back(bytes);
        },
        [this](HttpResult ended) { result = std::move(ended); });
  }
};

HttpRequest To(const std::string& url, std::string body = "question") {
  HttpRequest request;
  request.url = url + "/path";
  request.body = std::move(body);
  return request;
}

TEST(HttpClient, SendsHeadersAndBodyAndReadsTheAnswer) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer server(loop, [](const auto&, auto& peer) {
    peer.Send(HttpAnswer(429, "slower", {{"Retry-After", "7"}}));
  });
  Asked asked;
  HttpRequest request = To(server.url());
  request.headers = {{"content-type", "application/json"}};
  request.secret_headers = {{"x-api-key", base::Secret("key-1")}};
  asked.Ask(client, std::move(request));
  EXPECT_FALSE(asked.result);
  RunUntil(loop, [&] { return asked.result.has_value(); });
  EXPECT_EQ(asked.result->end, HttpEnd::kComplete);
  EXPECT_EQ(asked.result->head.status, 429);
  EXPECT_EQ(asked.result->head.headers["retry-after"], "7");
  EXPECT_EQ(asked.body, "slower");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].head.rfind("POST /path HTTP/1.1", 0), 0u);
  EXPECT_EQ(server.requests()[0].Header("x-api-key"), "key-1");
  EXPECT_EQ(server.requests()[0].body, "question");
}

TEST(HttpClient, ALongBodyIsSentWithoutAskingFirst) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer server(loop, [](const auto&, auto& peer) { peer.Send(HttpAnswer(200, "ok")); });
  Asked asked;
  asked.Ask(client, To(server.url(), std::string(3 << 20, 'q')));
  RunUntil(loop, [&] { return asked.result.has_value(); });
  EXPECT_EQ(asked.result->end, HttpEnd::kComplete);
  EXPECT_EQ(server.requests()[0].body.size(), std::size_t{3} << 20);
  EXPECT_EQ(server.requests()[0].Header("expect"), "");
}

TEST(HttpClient, PiecesComeWhenTheyAreSent) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer::Peer* peer = nullptr;
  MockHttpServer server(loop, [&peer](const auto&, auto& asked) { peer = &asked; });
  Asked asked;
  asked.Ask(client, To(server.url()));
  RunUntil(loop, [&] { return peer != nullptr; });
  peer->Send(HttpStreamHead() + "one");
  RunUntil(loop, [&] { return asked.body == "one"; });
  EXPECT_FALSE(asked.result);
  peer->Send("two");
  RunUntil(loop, [&] { return asked.body == "onetwo"; });
  peer->Close();
  RunUntil(loop, [&] { return asked.result.has_value(); });
  EXPECT_EQ(asked.result->end, HttpEnd::kComplete);
  EXPECT_GE(asked.pieces.size(), 2u);
}

TEST(HttpClient, AnAnswerThatEndsTooEarlyIsBroken) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer server(loop, [](const auto&, auto& peer) {
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    peer.Close();
  });
  Asked asked;
  asked.Ask(client, To(server.url()));
  RunUntil(loop, [&] { return asked.result.has_value(); });
  EXPECT_EQ(asked.result->end, HttpEnd::kBroken);
  EXPECT_EQ(asked.body, "half");
}

TEST(HttpClient, WhatIsNoHttpIsBroken) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer server(loop, [](const auto&, auto& peer) {
    peer.Send(std::string("\x16\x03\x01\x00\xff\r\n\r\n nonsense", 17));
    peer.Close();
  });
  Asked asked;
  asked.Ask(client, To(server.url()));
  RunUntil(loop, [&] { return asked.result.has_value(); });
  EXPECT_EQ(asked.result->end, HttpEnd::kBroken);
}

TEST(HttpClient, NobodyThereIsUnreachable) {
  Loop loop;
  HttpClient client(loop);
  std::string url;
  {
    MockHttpServer server(loop, [](const auto&, auto&) {});
    url = server.url();
  }
  Asked asked;
  asked.Ask(client, To(url));
  RunUntil(loop, [&] { return asked.result.has_value(); });
  EXPECT_EQ(asked.result->end, HttpEnd::kUnreachable);
  EXPECT_EQ(asked.result->head.status, 0);
}

TEST(HttpClient, AnAnswerOfAGigabyteIsCutAtTheLimit) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer::Peer* peer = nullptr;
  MockHttpServer server(loop, [&peer](const auto&, auto& asked) {
    peer = &asked;
    asked.Send(HttpStreamHead());
    asked.SendEndlessly(std::string(65536, 'x'), std::uint64_t{1} << 30);
  });
  Asked asked;
  HttpRequest request = To(server.url());
  request.max_bytes = 1 << 20;
  asked.Ask(client, std::move(request));
  RunUntil(loop, [&] { return asked.result.has_value(); });
  EXPECT_EQ(asked.result->end, HttpEnd::kTooLarge);
  EXPECT_LE(asked.body.size(), std::size_t{1} << 20);
  RunUntil(loop, [&] { return peer->closed_by_client(); });
  EXPECT_LT(peer->sent(), std::uint64_t{64} << 20);  // what the system's buffers hold
}

TEST(HttpClient, DestroyingATransferEndsIt) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer::Peer* peer = nullptr;
  MockHttpServer server(loop, [&peer](const auto&, auto& asked) {
    peer = &asked;
    asked.Send(HttpStreamHead() + "one");
  });
  Asked asked;
  asked.Ask(client, To(server.url()));
  RunUntil(loop, [&] { return !asked.body.empty(); });
  asked.transfer.reset();
  RunUntil(loop, [&] { return peer->closed_by_client(); });
  EXPECT_FALSE(asked.result);
}

TEST(HttpClient, ATransferMayBeDestroyedByItsOwnPiece) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer::Peer* peer = nullptr;
  MockHttpServer server(loop, [&peer](const auto&, auto& asked) {
    peer = &asked;
    asked.Send(HttpStreamHead() + "one");
  });
  std::unique_ptr<HttpTransfer> transfer;
  int pieces = 0;
  transfer = client.Start(
      To(server.url()),
      [&](const HttpHead&, std::string_view) {
        ++pieces;
        transfer.reset();
      },
      [](HttpResult) { FAIL(); });
  RunUntil(loop, [&] { return peer != nullptr && peer->closed_by_client(); });
  EXPECT_EQ(pieces, 1);
}

TEST(HttpClient, ARedirectionIsNotFollowed) {
  Loop loop;
  HttpClient client(loop);
  MockHttpServer server(loop, [](const auto&, auto& peer) {
    peer.Send(HttpAnswer(302, "", {{"Location", "http://127.0.0.1:1/"}}));
  });
  Asked asked;
  asked.Ask(client, To(server.url()));
  RunUntil(loop, [&] { return asked.result.has_value(); });
  EXPECT_EQ(asked.result->head.status, 302);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(HttpClient, ManyStreamsAtOnce) {
  Loop loop;
  HttpClient client(loop);
  std::vector<MockHttpServer::Peer*> peers;
  MockHttpServer server(loop, [&peers](const auto&, auto& asked) { peers.push_back(&asked); });
  constexpr std::size_t kStreams = 100;
  std::vector<Asked> asked(kStreams);
  for (Asked& one : asked) one.Ask(client, To(server.url()));
  RunUntil(loop, [&] { return peers.size() == kStreams; });
  for (auto* peer : peers) peer->Send(HttpStreamHead() + "half");
  for (auto* peer : peers) {
    peer->Send("whole");
    peer->Close();
  }
  RunUntil(loop, [&] {
    for (const Asked& one : asked) {
      if (!one.result) return false;
    }
    return true;
  });
  for (const Asked& one : asked) EXPECT_EQ(one.body, "halfwhole");
}

TEST(HttpAddress, KnowsThisMachine) {
  for (const char* url : {"http://localhost:1", "http://127.0.0.1/x", "http://127.8.9.1",
                          "http://[::1]:80/", "http://LOCALHOST"}) {
    EXPECT_TRUE(IsLoopback(url)) << url;
  }
  for (const char* url : {"http://127.evil.example/", "http://example.com/?localhost",
                          "http://localhost.example.com", "nonsense://", ""}) {
    EXPECT_FALSE(IsLoopback(url)) << url;
  }
}

TEST(HttpAddress, NamesTheOrigin) {
  EXPECT_EQ(*OriginOf("https://API.example.com/v1/x"), "https://api.example.com");
  EXPECT_EQ(*OriginOf("http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080");
  EXPECT_FALSE(OriginOf("https://user:password@example.com/"));
  EXPECT_FALSE(OriginOf("file:///etc/passwd"));
  EXPECT_FALSE(OriginOf("not an address"));
}

}  // namespace
}  // namespace cupilot::loop
