#include "protocol/client_messages.h"

#include <gtest/gtest.h>

namespace cupilot::protocol {
namespace {

using records::Json;

TEST(ClientMessages, AreReadAsTheyWereWritten) {
  const auto hello = ParseClientMessage(TextOf(ClientHello{1, 3, "0.2.0"}));
  ASSERT_TRUE(hello && std::holds_alternative<ClientHello>(*hello));
  EXPECT_EQ(std::get<ClientHello>(*hello).highest, 3);
  EXPECT_EQ(std::get<ClientHello>(*hello).version, "0.2.0");
  EXPECT_TRUE(std::get<ClientHello>(*hello).Speaks(2));
  EXPECT_FALSE(std::get<ClientHello>(*hello).Speaks(4));
  const auto request = ParseClientMessage(TextOf(ClientRequest{7, "best", {{"arch", "sm_90"}}}));
  ASSERT_TRUE(request && std::holds_alternative<ClientRequest>(*request));
  EXPECT_EQ(std::get<ClientRequest>(*request).id, 7);
  EXPECT_EQ(std::get<ClientRequest>(*request).verb, "best");
  EXPECT_EQ(std::get<ClientRequest>(*request).params["arch"], "sm_90");
}

TEST(ClientMessages, OddOnesAreAnsweredAllTheSame) {
  for (const char* text : {"", "{", "[]", "7", "\xff", "{\"id\":1}x"}) {
    EXPECT_EQ(ParseClientMessage(text).error().code, base::ErrorCode::kProtocol) << text;
  }
  for (const char* text : {"{}", R"({"verb": 3, "params": [1]})", R"({"params": null})"}) {
    const auto message = ParseClientMessage(text);
    ASSERT_TRUE(message) << text;
    EXPECT_EQ(std::get<ClientRequest>(*message).verb, "");
    EXPECT_EQ(std::get<ClientRequest>(*message).params, Json::object());
  }
  // None of them says that it speaks ours.
  for (const char* text :
       {"null", "3", R"({"protocol": 1})", R"({"protocol": ["1", 1]})", R"({"protocol": [1]})",
        R"({"protocol": [2, 18446744073709551615]})", R"({"protocol": [-5, -9223372036854775808]})",
        R"({"protocol": [0.5, 1.5]})"}) {
    const auto message = ParseClientMessage(std::string("{\"hello\":") + text + "}");
    ASSERT_TRUE(message) << text;
    EXPECT_FALSE(std::get<ClientHello>(*message).Speaks(kClientProtocol)) << text;
  }
  const auto wide = ParseClientMessage(R"({"hello": {"protocol": [0, 18446744073709551615]}})");
  EXPECT_TRUE(std::get<ClientHello>(*wide).Speaks(kClientProtocol));
}

TEST(ClientMessages, RepliesAndEventsAreToldApart) {
  const auto kind = [](const char* text) {
    const auto message = ParseDaemonMessage(text);
    EXPECT_TRUE(message) << text;
    return message.value_or(DaemonMessage()).kind;
  };
  EXPECT_EQ(kind(R"({"id": 1, "result": null})"), DaemonMessage::Kind::kResult);
  EXPECT_EQ(kind(R"({"hello": {}})"), DaemonMessage::Kind::kHello);
  EXPECT_EQ(kind(R"({"event": "idle", "data": {}})"), DaemonMessage::Kind::kEvent);
  EXPECT_EQ(kind(R"({"id": 1, "error": {}, "result": {}})"), DaemonMessage::Kind::kError);
  const auto error =
      ParseDaemonMessage(R"({"id": 1, "error": {"code": "not_found", "message": "no k"}})");
  EXPECT_EQ(error->error.code, base::ErrorCode::kNotFound);
  EXPECT_EQ(error->error.message, "no k");
  EXPECT_EQ(ParseDaemonMessage(R"({"error": 3})")->error.message, "the daemon gave no reason");
  EXPECT_EQ(ParseDaemonMessage(R"({"id": 1})").error().code, base::ErrorCode::kProtocol);
  EXPECT_EQ(ParseDaemonMessage("garbage").error().code, base::ErrorCode::kProtocol);
}

// A path or a message need not be UTF-8.
TEST(ClientMessages, WhatIsNoTextIsReplaced) {
  DaemonMessage message;
  message.kind = DaemonMessage::Kind::kError;
  message.error = base::IoError("\xff is gone");
  const auto read = ParseDaemonMessage(TextOf(message));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_NE(read->error.message.find(" is gone"), std::string::npos);
}

TEST(ClientMessages, ASnoozeIsAtMostAYear) {
  EXPECT_EQ(SnoozeSecondsOf({{"seconds", 90.75}}).value(), 90);
  EXPECT_EQ(SnoozeSecondsOf({{"seconds", 31536000}}).value(), 31536000);
  for (const Json& seconds : {Json(0), Json(-1), Json(1e300), Json(31536001), Json("60"), Json()}) {
    EXPECT_EQ(SnoozeSecondsOf({{"seconds", seconds}}).error().code,
              base::ErrorCode::kInvalidArgument)
        << seconds;
  }
  EXPECT_FALSE(SnoozeSecondsOf(Json::object()));
}

}  // namespace
}  // namespace cupilot::protocol
