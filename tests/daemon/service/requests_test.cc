#include "service/requests.h"

#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

class RequestsTest : public ServiceTest {
 protected:
  records::Json Ask(const std::string& message) {
    const auto reply = records::ParseJson(requests_->Handle("peer", message));
    EXPECT_TRUE(reply) << message;
    return reply.value_or(records::Json());
  }
  std::unique_ptr<Requests> requests_;
};

TEST_F(RequestsTest, WhateverComesIsAnswered) {
  Start();
  Drain();
  // A folder's name need not be text.
  requests_ = std::make_unique<Requests>(*service_, state() + "/\xff", [] {});
  EXPECT_EQ(Ask("garbage")["error"]["code"], "protocol");
  EXPECT_EQ(Ask(R"({"hello": [1, 1]})")["error"]["code"], "protocol");
  EXPECT_EQ(Ask(R"({"hello": {"protocol": [1, 9]}})")["hello"]["protocol"], 1);
  EXPECT_EQ(Ask(R"({"id": {"a": 1}, "verb": "ping"})")["id"]["a"], 1);
  EXPECT_EQ(Ask(R"({"id": 3, "verb": "fly"})")["error"]["code"], "unsupported");
  EXPECT_EQ(Ask(R"({"id": 3, "verb": ["ping"], "params": 7})")["error"]["code"], "unsupported");
  EXPECT_EQ(Ask(R"({"id": 3, "verb": "explain", "params": {"kernel": 7}})")["error"]["code"],
            "not_found");
  for (const char* value : {"0", "-1e300", "1e300", "9223372036854775807", "\"60\"", "null"}) {
    const std::string message =
        std::string(R"({"id": 3, "verb": "snooze", "params": {"seconds": )") + value + "}}";
    EXPECT_EQ(Ask(message)["error"]["code"], "invalid_argument") << value;
  }
  EXPECT_EQ(Ask(R"({"id": 3, "verb": "snooze", "params": {"seconds": 60}})")["result"]["state"],
            "paused");
}

}  // namespace
}  // namespace cupilot::service
