// What becomes of the processes that a tool has started.
#include "worker/run_tool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;

class RunToolTest : public ::testing::Test {
 protected:
  // A script in a compiler's place.
  std::vector<std::string> MakeTool(const std::string& text) const {
    return {"/bin/sh", folder_.Write("tool.sh", text)};
  }

  test::TemporaryFolder folder_;
  const std::string log_ = folder_ / "log";
  const std::string place_ = folder_ / "pid";
};

TEST_F(RunToolTest, SaysHowItEndedAndWhatItPrinted) {
  const auto good = RunTool(MakeTool("echo done; echo and said >&2\n"), log_, milliseconds(60000));
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_TRUE(good->succeeded);
  EXPECT_EQ(BeginningOf(log_), "done\nand said\n");
  const auto bad = RunTool(MakeTool("exit 3\n"), log_, milliseconds(60000));
  ASSERT_TRUE(bad) << bad.error().message;
  EXPECT_FALSE(bad->succeeded);
  EXPECT_FALSE(bad->timed_out);
  const auto missing = RunTool({folder_ / "missing"}, log_, milliseconds(60000));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::kUnavailable);
}

// A pipe that nobody reads any more must end a tool as it always does.
TEST_F(RunToolTest, AToolDoesNotIgnoreWhatTheWorkerIgnores) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const auto ended = RunTool(MakeTool("kill -PIPE $$; exit 0\n"), log_, milliseconds(60000));
  ::signal(SIGPIPE, before);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_FALSE(ended->succeeded);
}

TEST_F(RunToolTest, AtItsLimitAToolEndsWithAllThatItHasStarted) {
  // The second one is an orphan.
  const auto tool = MakeTool("sleep 100000 &\necho $! > '" + place_ +
                             "'.new\n"
                             "(sleep 100000 & echo $! >> '" +
                             place_ + "'.new)\nmv '" + place_ + "'.new '" + place_ + "'\nwait\n");
  // As long as the script needs to come so far.
  for (milliseconds limit{50}; !base::FileExists(place_); limit *= 2) {
    const auto ended = RunTool(tool, log_, limit);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_TRUE(ended->timed_out);
  }
  std::ifstream pids(place_);
  pid_t child = 0, orphan = 0;
  pids >> child >> orphan;
  ASSERT_GT(child, 0);
  ASSERT_GT(orphan, 0);
  EXPECT_TRUE(test::HasEnded(child));
  EXPECT_TRUE(test::HasEnded(orphan));
}

TEST_F(RunToolTest, AKilledWorkersToolEndsWithAllThatItHasStarted) {
  const auto tool = MakeTool("sleep 100000 &\necho $$ $! > '" + place_ + "'\nwait\n");
  ASSERT_EQ(::mkfifo(place_.c_str(), 0600), 0);
  const pid_t worker = ::fork();
  ASSERT_GE(worker, 0);
  if (worker == 0) {
    ::setpgid(0, 0);
    (void)RunTool(tool, log_, std::chrono::hours(1));
    ::_exit(1);
  }
  std::ifstream pids(place_);  // waits for the script
  pid_t script = 0, child = 0;
  pids >> script >> child;
  // As loop::ChildProcess does it.
  EXPECT_EQ(::kill(-worker, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(worker, &status, 0), worker);
  EXPECT_TRUE(WIFSIGNALED(status));
  ASSERT_GT(script, 0);
  ASSERT_GT(child, 0);
  EXPECT_TRUE(test::HasEnded(script));
  EXPECT_TRUE(test::HasEnded(child));
}

}  // namespace
}  // namespace cupilot::worker
