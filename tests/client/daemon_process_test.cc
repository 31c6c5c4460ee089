// Starting and stopping the real daemon.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(DaemonProcessTest, StoppingWakesNobodyAndSaysWhoElseHoldsTheSocket) {
  // Systemd would: it holds the socket, and a connection is what starts the daemon.
  test::FakeDaemon systemd(xdg_.socket(), CUPILOT_VERSION);
  ASSERT_TRUE(systemd.Start());
  const auto run = Run({"daemon", "stop"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, HasSubstr("no daemon was running"));
  EXPECT_THAT(run.output, HasSubstr("systemctl --user disable --now cupilot.socket"));
  EXPECT_TRUE(systemd.requests().empty());
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

TEST_F(DaemonProcessTest, EditedSettingsAreSaidUntilItStartsAgain) {
  const auto check_of_daemon = [&] {
    const Json doctor = Json::parse(Run({"doctor", "--json"}).output);
    for (const Json& check : doctor["checks"]) {
      if (check["name"] == "daemon") return check;
    }
    return Json();
  };
  const std::string said = "the daemon runs with older settings: `cupilot daemon stop` (it starts";
  EXPECT_EQ(RunJson({"status"}, 0)["settings"].get<std::string>().size(), 40u);
  xdg_.folder().Write("config/cupilot/config.json", R"({"nice": 10.0, "seconds_per_kernel": 900})");
  EXPECT_THAT(Run({"status"}).output, Not(HasSubstr("older settings"))) << "all as it was";
  EXPECT_EQ(check_of_daemon()["level"], "good");
  xdg_.folder().Write("config/cupilot/config.json", R"({"seconds_per_kernel": 33})");
  EXPECT_THAT(Run({"status"}).output, HasSubstr(said));
  EXPECT_EQ(check_of_daemon()["level"], "note");
  EXPECT_THAT(check_of_daemon()["found"].get<std::string>(), HasSubstr(said));
  xdg_.folder().Write("config/cupilot/config.json", R"({"paralel": 4})");
  EXPECT_THAT(Run({"status"}).output, HasSubstr("config.json: paralel"));
  xdg_.folder().Write("config/cupilot/config.json", R"({"seconds_per_kernel": 33})");
  Run({"daemon", "stop"});
  EXPECT_THAT(Run({"status"}).output, Not(HasSubstr("older settings")));
}

TEST_F(DaemonProcessTest, AnOpenStateFolderIsRefused) {
  std::filesystem::create_directories(xdg_.state());
  std::filesystem::permissions(xdg_.state(), std::filesystem::perms::all);
  const auto run = Run({"daemon", "start"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr(xdg_.state()));
}

TEST_F(DaemonProcessTest, AnOlderDaemonMakesWayForOneOfThisVersion) {
  test::FakeDaemon older(xdg_.socket(), "0.0.9");
  older.On("hand_over", [](const Json&) { return Json{{"by_systemd", false}}; });
  ASSERT_TRUE(older.Start());
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.errors, HasSubstr("the daemon was version 0.0.9"));
  EXPECT_THAT(run.output, HasSubstr("cuPilot " CUPILOT_VERSION));
  ASSERT_EQ(older.requests().size(), 1u);
  EXPECT_EQ(older.requests()[0]["params"]["version"], CUPILOT_VERSION);
  EXPECT_EQ(Run({"status"}).errors, "");
  // Before the older one is gone, and the path with it.
  EXPECT_EQ(RunJson({"daemon", "stop"}, 0)["stopped"], true);
}

TEST_F(DaemonProcessTest, WhileAnOlderDaemonEndsItsWorkItAnswers) {
  test::FakeDaemon older(xdg_.socket(), "0.0.9");
  older.On("hand_over", [](const Json&) { return Json{{"by_systemd", false}}; });
  older.On("status", [](const Json&) { return Json{{"schema", "cupilot.status/1"}}; });
  ASSERT_TRUE(older.Start());
  // One waits for its end already, and this one may not start a second.
  environment_["CUPILOT_DAEMON"] = xdg_.folder().Write("daemon", "#!/bin/sh\nexit 3\n");
  std::filesystem::permissions(environment_["CUPILOT_DAEMON"], std::filesystem::perms::owner_all);
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.errors, HasSubstr("ends what it measures"));
}

TEST_F(DaemonProcessTest, ANewerDaemonStays) {
  test::FakeDaemon newer(xdg_.socket(), "99.0.0");
  newer.On("status", [](const Json&) { return Json{{"schema", "cupilot.status/1"}}; });
  ASSERT_TRUE(newer.Start());
  const auto run = Run({"status"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.errors, HasSubstr("99.0.0"));
  EXPECT_EQ(newer.requests().size(), 1u);  // the status
}

constexpr const char* kDoAsTold = R"(while [ "$1" != -- ]; do shift; done; shift; exec "$@")";

// A stand-in for systemd-run that leaves its words in a file, then does as it is told.
class ScopeTest : public DaemonProcessTest {
 protected:
  void MakeSystemd(const std::string& then) {
    xdg_.folder().Write("run/systemd/private", "");
    const std::string program = xdg_.folder().Write(
        "bin/systemd-run", "#!/bin/sh\necho \"$@\" > " + words_file() + "\n" + then);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    environment_["PATH"] = xdg_.folder() / "bin:" + std::getenv("PATH");
  }
  std::string words_file() const { return xdg_.folder() / "words"; }
};

TEST_F(ScopeTest, WhereSystemdRunsTheDaemonGetsAScopeOfItsOwn) {
  xdg_.folder().Write("config/cupilot/config.json", R"({"memory_gigabytes": 2})");
  MakeSystemd(kDoAsTold);
  EXPECT_EQ(RunJson({"daemon", "start"}, 0)["started"], true);
  const std::string words = base::ReadFile(words_file()).value_or("");
  EXPECT_THAT(words, HasSubstr("--user --scope"));
  EXPECT_THAT(words, HasSubstr("MemoryHigh=2147483648"));
  EXPECT_THAT(words, HasSubstr("CPUWeight="));
}

TEST_F(ScopeTest, WhereSystemdRefusesItStartsPlainly) {
  MakeSystemd("exit 1");
  EXPECT_EQ(RunJson({"daemon", "start"}, 0)["started"], true);
  EXPECT_TRUE(base::FileExists(words_file()));
}

TEST_F(ScopeTest, WhatTheDaemonItselfRefusesIsNotTriedTwice) {
  xdg_.folder().Write("config/cupilot/config.json", R"({"paralel": 4})");
  MakeSystemd(kDoAsTold);
  const auto run = Run({"daemon", "start"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("paralel"));
}

TEST_F(DaemonProcessTest, LogsOfNoDaemonAreNotFound) {
  EXPECT_EQ(RunJson({"daemon", "logs"}, 1)["code"], "not_found");
}

}  // namespace
}  // namespace cupilot::client
