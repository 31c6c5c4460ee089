// The real `cupilot watch` in a terminal of the test's, against a daemon of the test's.
#include <gmock/gmock.h>

#include <atomic>
#include <csignal>

#include "tests/client/client_fixture.h"
#include "tests/support/terminal_program.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

class WatchTerminalTest : public ClientTest {
 protected:
  WatchTerminalTest() {
    environment_["TERM"] = "xterm-256color";
    environment_["LC_ALL"] = "C.UTF-8";
    environment_["NO_COLOR"] = "";
    daemon_.On("status", [this](const Json&) { return Status(); });
    daemon_.On("list", [this](const Json&) {
      return Json{{"schema", "cupilot.list/1"}, {"kernels", {Row("image::blur"), Row("scan")}}};
    });
    daemon_.On("explain", [this](const Json& params) {
      Json document = Row(params.value("kernel", ""));
      document.update({{"verdict", "original"}, {"why_not", "nothing is proven yet"}});
      return document;
    });
    daemon_.On("snooze", [this](const Json&) { return snoozed_ = true, Status(); });
    daemon_.On("resume", [this](const Json&) { return snoozed_ = false, Status(); });
  }

  Json Status() const {
    return {{"schema", "cupilot.status/1"},
            {"version", CUPILOT_VERSION},
            {"state", snoozed_ ? "paused" : "idle"},
            {"idle_reason", snoozed_ ? "snoozed" : "done"},
            {"uptime_seconds", 61.0},
            {"counters", {{"evaluations", evaluations_.load()}}}};
  }
  Json Row(const std::string& kernel) const {
    return {{"kernel", kernel}, {"project", "/p/build"},
            {"state", "done"},  {"tried", evaluations_.load()},
            {"speedup", 1.42},  {"curve", {1.0, 1.42}}};
  }
  test::RunOptions Options() const { return {environment_, xdg_.folder().path()}; }
  void ExpectAsBefore(test::TerminalProgram& program) {
    EXPECT_FALSE(program.screen().other_screen());
    EXPECT_TRUE(program.screen().cursor_shown());
    EXPECT_TRUE(program.screen().wraps());
    EXPECT_TRUE(program.SettingsAreAsBefore());
    EXPECT_EQ(program.screen().unknown(), "");
  }

  const std::vector<std::string> watch_ = {CUPILOT_PROGRAM, "watch"};
  std::atomic<bool> snoozed_ = false;
  std::atomic<int> evaluations_ = 7;
};

TEST_F(WatchTerminalTest, ShowsKernelsAndTakesKeys) {
  ASSERT_TRUE(daemon_.Start());
  test::TerminalProgram program(watch_, Options());
  ASSERT_TRUE(program.Shows("> image::blur")) << program.screen().text();
  EXPECT_TRUE(program.screen().other_screen());
  EXPECT_FALSE(program.screen().cursor_shown());
  EXPECT_THAT(program.screen().text(), HasSubstr("▁█"));
  EXPECT_THAT(program.screen().Line(23), HasSubstr("q quit"));
  program.Type("\033[B");
  ASSERT_TRUE(program.Shows("> scan"));
  program.Type("\r");
  ASSERT_TRUE(program.Shows("the original runs: nothing is proven yet"));
  EXPECT_THAT(program.screen().Line(0), HasSubstr("scan"));
  program.Type("\033");
  ASSERT_TRUE(program.Shows("> scan"));
  program.Type("p");
  ASSERT_TRUE(program.Shows("paused: snoozed"));
  program.Type("p");
  ASSERT_TRUE(program.Shows("tuning goes on"));
  program.Type("q");
  EXPECT_EQ(program.End(), 0);
  ExpectAsBefore(program);
  EXPECT_TRUE(program.screen().coloured());
  std::vector<double> seconds;
  for (const Json& request : daemon_.requests()) {
    if (request["verb"] == "snooze") seconds.push_back(request["params"]["seconds"]);
  }
  EXPECT_THAT(seconds, ::testing::ElementsAre(365 * 24 * 3600.0));
}

TEST_F(WatchTerminalTest, AnEventBringsNewNumbers) {
  ASSERT_TRUE(daemon_.Start());
  test::TerminalProgram program(watch_, Options());
  ASSERT_TRUE(program.Shows("evaluations 7"));
  evaluations_ = 8;
  daemon_.Emit("kernel", {{"kernel", "scan"}, {"stage", "verdict"}});
  ASSERT_TRUE(program.Shows("evaluations 8"));
  program.Type("q");
  EXPECT_EQ(program.End(), 0);
}

TEST_F(WatchTerminalTest, AnotherSizeIsDrawnAnew) {
  ASSERT_TRUE(daemon_.Start());
  test::TerminalProgram program(watch_, Options());
  ASSERT_TRUE(program.Shows("q quit"));
  program.Resize(40, 10);
  ASSERT_TRUE(program.Shows("q quit"));
  ASSERT_TRUE(program.Shows("> image::blur"));
  program.Resize(100, 30);
  ASSERT_TRUE(program.Shows("evaluations 7"));
  EXPECT_THAT(program.screen().Line(29), HasSubstr("q quit"));
  program.Type("q");
  EXPECT_EQ(program.End(), 0);
  ExpectAsBefore(program);
}

// The terminal is not the controlling one of the program, which gets no signal then.
TEST_F(WatchTerminalTest, AnotherSizeIsSeenWithoutASignal) {
  ASSERT_TRUE(daemon_.Start());
  test::TerminalProgram program({"setsid", "--wait", CUPILOT_PROGRAM, "watch"}, Options());
  ASSERT_TRUE(program.Shows("evaluations 7"));
  program.Resize(100, 30);
  evaluations_ = 8;
  daemon_.Emit("kernel", {{"kernel", "scan"}, {"stage", "verdict"}});
  ASSERT_TRUE(program.Shows("evaluations 8"));
  EXPECT_THAT(program.screen().Line(29), HasSubstr("q quit"));
  program.Type("q");
  EXPECT_EQ(program.End(), 0);
}

TEST_F(WatchTerminalTest, WithoutUnicodeAndColoursThereAreNone) {
  environment_["LC_ALL"] = "C";
  environment_["NO_COLOR"] = "1";
  ASSERT_TRUE(daemon_.Start());
  test::TerminalProgram program(watch_, Options());
  ASSERT_TRUE(program.Shows("> image::blur"));
  EXPECT_THAT(program.screen().text(), HasSubstr("  .@"));
  program.Type("q");
  EXPECT_EQ(program.End(), 0);
  EXPECT_TRUE(program.screen().ascii());
  EXPECT_FALSE(program.screen().coloured());
}

TEST_F(WatchTerminalTest, SignalsLeaveTheTerminalAsItWas) {
  ASSERT_TRUE(daemon_.Start());
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    test::TerminalProgram program(watch_, Options());
    ASSERT_TRUE(program.Shows("q quit"));
    program.Signal(number);
    EXPECT_EQ(program.End(), 0) << number;
    ExpectAsBefore(program);
  }
  test::TerminalProgram program(watch_, Options());
  ASSERT_TRUE(program.Shows("q quit"));
  program.Type("\x03");  // the terminal makes SIGINT of it
  EXPECT_EQ(program.End(), 0);
  ExpectAsBefore(program);
}

TEST_F(WatchTerminalTest, AShellGetsItsTerminalWhileItIsStopped) {
  ASSERT_TRUE(daemon_.Start());
  test::TerminalProgram program(watch_, Options());
  ASSERT_TRUE(program.Shows("q quit"));
  program.Type("\x1a");
  ASSERT_TRUE(program.Stops());
  ExpectAsBefore(program);
  program.Signal(SIGCONT);
  ASSERT_TRUE(program.Shows("> image::blur"));
  program.Type("j");
  ASSERT_TRUE(program.Shows("> scan"));
  EXPECT_TRUE(program.screen().other_screen());
  program.Type("q");
  EXPECT_EQ(program.End(), 0);
  ExpectAsBefore(program);
}

TEST_F(WatchTerminalTest, ADaemonThatEndsIsSaidAndFoundAgain) {
  ASSERT_TRUE(daemon_.Start());
  test::TerminalProgram program(watch_, Options());
  ASSERT_TRUE(program.Shows("> image::blur"));
  daemon_.Stop();
  ASSERT_TRUE(program.Shows("the daemon has ended"));
  program.Type("p");
  ASSERT_TRUE(program.Shows("there is no daemon to ask"));
  evaluations_ = 9;
  ASSERT_TRUE(daemon_.Start());
  ASSERT_TRUE(program.Shows("evaluations 9"));
  EXPECT_THAT(program.screen().text(), Not(HasSubstr("has ended")));
  program.Type("q");
  EXPECT_EQ(program.End(), 0);
  ExpectAsBefore(program);
}

TEST_F(WatchTerminalTest, ASimpleTerminalGetsPlainLines) {
  environment_["TERM"] = "dumb";
  ASSERT_TRUE(daemon_.Start());
  test::TerminalProgram program(watch_, Options());
  ASSERT_TRUE(program.Shows("image::blur"));
  EXPECT_FALSE(program.screen().other_screen());
  EXPECT_FALSE(program.screen().coloured());
  program.Type("\x03");
  EXPECT_EQ(program.End(), 0);
  ExpectAsBefore(program);
}

TEST_F(WatchTerminalTest, WithoutADaemonTheTerminalIsNotTouched) {
  test::TerminalProgram program(watch_, Options());
  EXPECT_EQ(program.End(), 3);
  EXPECT_THAT(program.screen().text(), HasSubstr("cupilot daemon start"));
  ExpectAsBefore(program);
}

TEST_F(WatchTerminalTest, JsonIsOneDocument) {
  ASSERT_TRUE(daemon_.Start());
  const Json document = RunJson({"watch"}, 0);
  EXPECT_EQ(document["schema"], "cupilot.watch/1");
  EXPECT_EQ(document["kernels"].size(), 2u);
  EXPECT_EQ(document["status"]["state"], "idle");
}

// Elsewhere than on a terminal: a picture for each change, until nobody reads.
TEST_F(WatchTerminalTest, APipeGetsAPictureForEachChange) {
  ASSERT_TRUE(daemon_.Start());
  test::RunOptions options = Options();
  options.environment["WATCH"] = CUPILOT_PROGRAM;
  const auto run = test::RunProgram(
      {"sh", "-c", "\"$WATCH\" watch | { read a; read b; read c; echo \"$b\"; echo \"$a\"; }"},
      options);
  EXPECT_THAT(run.output, HasSubstr("cuPilot " CUPILOT_VERSION "  idle: done"));
  EXPECT_THAT(run.output, HasSubstr("evaluations 7"));
  EXPECT_THAT(run.output, Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace cupilot::client
