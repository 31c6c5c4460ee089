// What becomes of replays whose calls fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "evaluate/calls.h"
#include "tests/support/fake_workers.h"

namespace cupilot::evaluate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReplayCallsTest : public ::testing::Test {
 protected:
  // Calls for a case of `bad_` fail with this error.
  void FailWith(const base::Error& error) {
    workers_.On(
        "replay", [this, error](const records::Json& params) -> base::Result<records::Json> {
          const auto request = protocol::ParseReplayRequest(params);
          protocol::ReplayReply reply;
          for (const records::Case& one : request->set.workload.cases) {
            if (bad_.contains(one.name)) return base::Fail(error);
            reply.cases.push_back({.name = one.name, .times = 100, .wanted = 100, .seconds = 10});
          }
          return protocol::ToJson(reply);
        });
  }
  base::Result<protocol::ReplayReply> Ask(const std::vector<std::string>& names) {
    protocol::ReplayRequest request;
    request.set.device = "host";
    for (const std::string& name : names) {
      records::Case one;
      one.name = name;
      one.grid = one.block = {"1", "1", "1"};
      request.set.workload.cases.push_back(one);
    }
    std::optional<base::Result<protocol::ReplayReply>> answer;
    Replay(workers_, request, 2,
           [&](base::Result<protocol::ReplayReply> reply) { answer.emplace(std::move(reply)); });
    workers_.RunAll();
    EXPECT_TRUE(answer);
    return answer ? std::move(*answer) : base::Fail(base::Internal("no answer"));
  }

  test::FakeWorkers workers_;
  std::set<std::string> bad_;
};

TEST_F(ReplayCallsTest, OneCaseThatEndsTheWorkerCostsTheOthersNothing) {
  FailWith(base::ToolFailed("the device worker was ended by Aborted"));
  bad_ = {"b"};
  const auto reply = Ask({"a", "b", "c"});
  ASSERT_TRUE(reply) << reply.error().message;
  std::vector<std::string> names;
  for (const protocol::ReplayedCase& one : reply->cases) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(reply->cases[0].times, 100);
  EXPECT_EQ(reply->cases[1].times, 0);
  EXPECT_TRUE(reply->cases[1].failed);
  EXPECT_THAT(reply->cases[1].reason,
              HasSubstr("it cannot be replayed: the device worker was ended by Aborted"));
  EXPECT_EQ(reply->cases[2].reason, "");
  EXPECT_EQ(workers_.Count("replay"), 4);
}

TEST_F(ReplayCallsTest, ALoneCaseIsAskedOnce) {
  FailWith(base::Timeout("no answer"));
  bad_ = {"a"};
  const auto reply = Ask({"a"});
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->cases.size(), 1u);
  EXPECT_TRUE(reply->cases[0].failed);
  EXPECT_EQ(workers_.Count("replay"), 1);
}

TEST_F(ReplayCallsTest, ADeviceThatIsGoneSaysNothingOfACase) {
  FailWith(base::Unavailable("no device"));
  bad_ = {"a"};
  const auto reply = Ask({"a", "b"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(workers_.Count("replay"), 1);
}

}  // namespace
}  // namespace cupilot::evaluate
