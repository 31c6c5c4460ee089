// How the installed `cupilot` is started for a capture, and what becomes of what it says. The
// program here is a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "base/file.h"
#include "service/build_tools.h"
#include "service/process_capture_runner.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CaptureRunnerTest : public ::testing::Test {
 protected:
  CaptureRunnerTest() { fs::create_directories(folder_ / "build"); }

  void Script(const std::string& text) {
    fs::permissions(folder_.Write("cupilot", "#!/bin/sh\n" + text), fs::perms::owner_all);
  }
  // What is said at the end; `with` may end it before.
  std::string Run(const std::function<void(CaptureRunner&)>& with = {}) {
    ProcessCaptureRunner::Settings settings;
    settings.program = folder_ / "cupilot";
    settings.cache_folder = folder_ / "cache";
    settings.most_log = 2000;
    ProcessCaptureRunner runner(loop_, settings);
    std::optional<std::string> failure;
    runner.Run({{folder_ / "build", "run"}, {"/data", {"app", "two words"}}, folder_ / "run.log"},
               [&](const std::string& text) {
                 failure = text;
                 loop_.Stop();
               });
    EXPECT_FALSE(failure) << "before Run() returned";
    if (with) with(runner);
    loop_.Run();
    return failure.value_or("never ended");
  }
  std::string Log() const { return base::ReadFile(folder_ / "run.log").value_or(""); }

  test::TemporaryFolder folder_;
  loop::Loop loop_;
};

TEST_F(CaptureRunnerTest, TheCommandIsRunUnderCapture) {
  Script(R"(pwd >where; printf '<%s>' "$@" >words
echo "said by the program" >&2
echo '{"schema": "cupilot.capture/1",'
echo ' "program": {"exit_code": 0, "ending": ""}}')");
  EXPECT_EQ(Run(), "");
  EXPECT_EQ(*base::ReadFile(folder_ / "build/where"),
            fs::canonical(folder_ / "build").string() + "\n");
  EXPECT_EQ(*base::ReadFile(folder_ / "build/words"),
            "<--json><capture><--working-directory></data><--><app><two words>");
  EXPECT_EQ(Log(), "in /data: app two words\nsaid by the program\ncaptured\n");
}

TEST_F(CaptureRunnerTest, SaysHowTheProgramEnded) {
  Script(R"(echo '{"program": {"exit_code": 8, "ending": "ended with 8"}}'; exit 1)");
  EXPECT_EQ(Run(), "exit 8");
  EXPECT_THAT(Log(), HasSubstr("not captured: exit 8\n"));
  Script(R"(echo '{"program": {"exit_code": null, "ending": "was ended by Aborted"}}'; exit 1)");
  EXPECT_EQ(Run(), "was ended by Aborted");
  Script(R"(echo '{"message": "made no launch", "program": {"exit_code": 0}}'; exit 1)");
  EXPECT_EQ(Run(), "made no launch");
  Script(R"(echo '{"message": "cannot be started", "program": null}'; exit 2)");
  EXPECT_EQ(Run(), "cannot be started");
  Script("exit 7");
  EXPECT_EQ(Run(), "`cupilot capture` ended with 7");
}

TEST_F(CaptureRunnerTest, ATestThatNobodyKnowsIsNamed) {
  Script(R"(echo 'No tests were found!!!' >&2
echo '{"program": {"exit_code": 8, "ending": "ended with 8"}}'; exit 1)");
  EXPECT_EQ(Run(), "neither CTest nor cupilot_capture_test() has a test of this name");
}

TEST_F(CaptureRunnerTest, AProgramThatIsMissingIsAFailureAndNotNow) {
  EXPECT_THAT(Run(), HasSubstr("cannot start " + folder_ / "cupilot"));
}

TEST_F(CaptureRunnerTest, WhatIsEndedLeavesNoRecordings) {
  Script(R"(mkdir -p ../cache/capture/$$.one ../cache/capture/1.other
echo begun >&2
exec cat <../fifo)");
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(Run([&](CaptureRunner& runner) {
              // What it says then wakes the loop.
              while (!base::FileExists(folder_ / "cache/capture/1.other")) loop_.RunOnce(true);
              runner.Stop();
            }),
            "it was interrupted");
  for (const auto& entry : fs::directory_iterator(folder_ / "cache/capture")) {
    EXPECT_EQ(entry.path().filename(), "1.other");
  }
}

TEST_F(CaptureRunnerTest, LogsHaveABeginningAndAnEnd) {
  Script(R"(i=0; while [ $i -lt 500 ]; do echo "line $i" >&2; i=$((i + 1)); done
echo '{"program": {"exit_code": 0, "ending": ""}}')");
  EXPECT_EQ(Run(), "");
  EXPECT_THAT(Log(), StartsWith("in /data: app two words\nline 0\nline 1\n"));
  EXPECT_THAT(Log(), HasSubstr("bytes are left out"));
  EXPECT_THAT(Log(), HasSubstr("line 499\ncaptured\n"));
  EXPECT_THAT(Log(), Not(HasSubstr("line 250\n")));
  EXPECT_LE(Log().size(), 2100u);
}

TEST(BuildTools, AreSeenByTheFolderInWhichTheyWork) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "project/build/sub");
  fs::create_directories(folder / "project/build-other");
  const std::string build = folder / "project/build", proc = folder / "proc";
  const auto process = [&](const std::string& pid, const std::string& name, const std::string& in) {
    folder.Write("proc/" + pid + "/comm", name + "\n");
    fs::create_directory_symlink(in, proc + "/" + pid + "/cwd");
  };
  folder.Write("proc/version", "a file\n");
  process("10", "ninja", folder / "project/build-other");
  process("11", "cc1plus", build);
  folder.Write("proc/12/comm", "make\n");  // of another user
  EXPECT_FALSE(BuildToolWorksIn(build, proc));
  process("13", "make", build + "/sub");
  EXPECT_TRUE(BuildToolWorksIn(build, proc));
  EXPECT_TRUE(BuildToolWorksIn(folder / "project/build-other", proc));
  EXPECT_FALSE(BuildToolWorksIn(folder / "nothing", proc));
}

}  // namespace
}  // namespace cupilot::service
