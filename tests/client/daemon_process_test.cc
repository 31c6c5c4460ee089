// Starting and stopping the real daemon.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;

class DaemonProcessTest : public ClientTest {
 protected:
  DaemonProcessTest() { environment_["CUPILOT_NO_SPAWN"] = ""; }
  ~DaemonProcessTest() override { Run({"daemon", "stop"}); }
};

TEST_F(DaemonProcessTest, StartAndStopAreIdempotent) {
  const Json started = RunJson({"daemon", "start"}, 0);
  EXPECT_EQ(started["started"], true);
  const Json again = RunJson({"daemon", "start"}, 0);
  EXPECT_EQ(again["started"], false);
  EXPECT_EQ(again["pid"], started["pid"]);
  EXPECT_EQ(RunJson({"daemon", "stop"}, 0)["stopped"], true);
  EXPECT_EQ(RunJson({"daemon", "stop"}, 0)["stopped"], false);
}

TEST_F(DaemonProcessTest, ACommandStartsItOnDemand) {
  const Json status = RunJson({"status"}, 0);
  EXPECT_EQ(status["schema"], "cupilot.status/1");
  EXPECT_EQ(RunJson({"list"}, 0)["kernels"].size(), 0u);
  EXPECT_EQ(RunJson({"daemon", "start"}, 0)["pid"], status["pid"]);
}

TEST_F(DaemonProcessTest, AFailedStartGivesItsReason) {
  xdg_.folder().Write("config/cupilot/config.json", R"({"paralel": 4})");
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("paralel"));
  EXPECT_THAT(Run({"daemon", "logs"}).output, HasSubstr("paralel"));
}

TEST_F(DaemonProcessTest, AnOpenStateFolderIsRefused) {
  std::filesystem::create_directories(xdg_.state());
  std::filesystem::permissions(xdg_.state(), std::filesystem::perms::all);
  const auto run = Run({"daemon", "start"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr(xdg_.state()));
}

TEST_F(DaemonProcessTest, LogsOfNoDaemonAreNotFound) {
  EXPECT_EQ(RunJson({"daemon", "logs"}, 1)["code"], "not_found");
}

}  // namespace
}  // namespace cupilot::client
