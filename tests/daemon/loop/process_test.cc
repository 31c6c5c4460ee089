#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "loop/child_process.h"
#include "loop/file_watcher.h"
#include "loop/timer.h"

namespace cupilot::loop {
namespace {

bool HasNoChild() {
  siginfo_t ended{};
  return ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

// Runs the loop until no child remains, killed or reaped; false if one does for ten seconds.
bool EndsWithoutZombies(Loop& loop) {
  bool late = false;
  Timer limit(loop);
  limit.Start(std::chrono::seconds(10), [&late] { late = true; });
  while (!late && !HasNoChild()) loop.RunOnce(true);
  return !late;
}

struct Outcome {
  std::vector<std::string> lines;
  ChildExit exit;
};

Outcome RunChild(std::vector<std::string> arguments, const std::vector<std::string>& input,
                 std::size_t max_line = 1 << 20) {
  Loop loop;
  Outcome run;
  ChildOptions options;
  options.arguments = std::move(arguments);
  options.max_line = max_line;
  auto child = ChildProcess::Start(
      loop, std::move(options), [&](std::string_view line) { run.lines.emplace_back(line); },
      [&](ChildExit exit) {
        run.exit = exit;
        loop.Stop();
      });
  EXPECT_TRUE(child.has_value());
  if (!child) return run;
  for (const std::string& line : input) (*child)->WriteLine(line);
  (*child)->CloseInput();
  loop.Run();
  return run;
}

TEST(ChildProcess, ExchangesLinesAndReportsTheExitCode) {
  const Outcome run =
      RunChild({"/bin/sh", "-c", "while read l; do echo got $l; done; exit 3"}, {"one", "two"});
  EXPECT_EQ(run.lines, (std::vector<std::string>{"got one", "got two"}));
  EXPECT_EQ(run.exit.status, 3);
  EXPECT_EQ(run.exit.signal, 0);
}

TEST(ChildProcess, ReadsBothStreamsToTheirEnds) {
  Loop loop;
  std::vector<std::string> lines, errors;
  ChildOptions options;
  options.arguments = {"/bin/sh", "-c", "echo out; echo one >&2; printf two >&2; printf half"};
  options.on_error_line = [&errors](std::string_view line) { errors.emplace_back(line); };
  auto child = ChildProcess::Start(
      loop, std::move(options), [&](std::string_view line) { lines.emplace_back(line); },
      [&](ChildExit) { loop.Stop(); });
  ASSERT_TRUE(child.has_value());
  loop.Run();
  EXPECT_EQ(lines, (std::vector<std::string>{"out"}));
  EXPECT_EQ(errors, (std::vector<std::string>{"one", "two"}));
}

TEST(ChildProcess, MayBeDestroyedByALineOfItsErrors) {
  Loop loop;
  std::unique_ptr<ChildProcess> child;
  ChildOptions options;
  options.arguments = {"/bin/sh", "-c", "echo one >&2; echo two >&2; exec cat"};
  int lines = 0;
  options.on_error_line = [&](std::string_view) {
    ++lines;
    loop.Stop();
    child.reset();  // and this handler with it
  };
  auto started = ChildProcess::Start(
      loop, std::move(options), [](std::string_view) {}, [](ChildExit) { FAIL(); });
  ASSERT_TRUE(started.has_value());
  child = std::move(*started);
  loop.Run();
  EXPECT_EQ(lines, 1);
}

TEST(ChildProcess, GetsALongLineWholeBeforeItsInputEnds) {
  const std::string line(3 << 20, 'x');
  EXPECT_EQ(RunChild({"/bin/sh", "-c", "wc -c"}, {line}).lines,
            std::vector<std::string>{std::to_string(line.size() + 1)});
}

TEST(ChildProcess, ALastLineWithoutEndMayCount) {
  Loop loop;
  std::vector<std::string> lines;
  ChildOptions options;
  options.arguments = {"/bin/sh", "-c", "printf 'one\\ntwo'"};
  options.last_line_may_lack_end = true;
  auto child = ChildProcess::Start(
      loop, std::move(options), [&](std::string_view line) { lines.emplace_back(line); },
      [&](ChildExit) { loop.Stop(); });
  ASSERT_TRUE(child.has_value());
  loop.Run();
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST(ChildProcess, ReportsTheSignal) {
  EXPECT_EQ(RunChild({"/bin/sh", "-c", "kill -SEGV $$"}, {}).exit.signal, SIGSEGV);
}

TEST(ChildProcess, ALineThatNeverEndsEndsTheProcess) {
  const ChildExit exit = RunChild({"/bin/sh", "-c", "cat /dev/zero"}, {}, 100000).exit;
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_TRUE(exit.line_too_long);
}

TEST(ChildProcess, InheritsNoDescriptors) {
  // Not a number that a program opens by itself.
  const int extra = ::fcntl(0, F_DUPFD, 57);
  const Outcome run = RunChild({"/bin/sh", "-c", "ls /proc/self/fd | tr '\\n' ' '; echo"}, {});
  ::close(extra);
  ASSERT_EQ(run.lines.size(), 1u);
  EXPECT_EQ(run.lines[0].find(std::to_string(extra) + " "), std::string::npos) << run.lines[0];
}

TEST(ChildProcess, AMissingProgramIsAnError) {
  Loop loop;
  ChildOptions options;
  options.arguments = {"/nonexistent/program"};
  auto child =
      ChildProcess::Start(loop, std::move(options), [](std::string_view) {}, [](ChildExit) {});
  ASSERT_FALSE(child.has_value());
  EXPECT_EQ(child.error().code, base::ErrorCode::kUnavailable);
}

TEST(ChildProcess, DestroyingItKillsIt) {
  Loop loop;
  ChildOptions options;
  options.arguments = {"/bin/cat"};
  auto child =
      ChildProcess::Start(loop, std::move(options), [](std::string_view) {}, [](ChildExit) {});
  ASSERT_TRUE(child.has_value());
  child->reset();
  EXPECT_TRUE(EndsWithoutZombies(loop));
}

TEST(ChildProcess, ALoopThatEndsLeavesNoZombies) {
  {
    Loop loop;
    ChildOptions options;
    options.arguments = {"/bin/cat"};
    auto child =
        ChildProcess::Start(loop, std::move(options), [](std::string_view) {}, [](ChildExit) {});
    ASSERT_TRUE(child.has_value());
  }
  EXPECT_TRUE(HasNoChild());
}

// A loop whose process is the parent of orphans.
class AdoptingLoop : public ::testing::Test {
 protected:
  AdoptingLoop() { loop_.AdoptOrphans(); }
  ~AdoptingLoop() override { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }

  // Runs the script until it has printed the id of a process that it has started.
  std::unique_ptr<ChildProcess> StartParent(const std::string& script, pid_t& started) {
    ChildOptions options;
    options.arguments = {"/bin/sh", "-c", script};
    auto parent = ChildProcess::Start(
        loop_, std::move(options),
        [this, &started](std::string_view line) {
          started = std::atoi(std::string(line).c_str());
          loop_.Stop();
        },
        [](ChildExit) {});
    if (!parent) return nullptr;
    loop_.Run();
    return std::move(*parent);
  }
  Loop loop_;
};

TEST_F(AdoptingLoop, ReapsWhatAKilledChildHasStarted) {
  pid_t orphan = 0;
  auto parent = StartParent("sleep 100000 & echo $!; exec cat", orphan);
  ASSERT_GT(orphan, 0);
  parent.reset();
  EXPECT_TRUE(EndsWithoutZombies(loop_));
  EXPECT_NE(::kill(orphan, 0), 0);
}

TEST_F(AdoptingLoop, ReapsAnOrphanThatEndsLater) {
  pid_t orphan = 0;
  auto parent = StartParent("setsid sleep 100000 & echo $!; exec cat", orphan);
  ASSERT_GT(orphan, 0);
  parent.reset();
  EXPECT_EQ(::kill(orphan, SIGKILL), 0);
  EXPECT_TRUE(EndsWithoutZombies(loop_));
}

// Each child ends together with an orphan of it.
TEST_F(AdoptingLoop, TakesNoResultOfAChild) {
  constexpr int kChildren = 40;
  std::vector<std::unique_ptr<ChildProcess>> children;
  int well = 0, ended = 0;
  for (int i = 0; i < kChildren; ++i) {
    ChildOptions options;
    options.arguments = {"/bin/sh", "-c", "sleep 100000 & read line; exit 3"};
    auto child = ChildProcess::Start(
        loop_, std::move(options), [](std::string_view) {},
        [&](ChildExit exit) {
          well += exit.status == 3 && exit.signal == 0 ? 1 : 0;
          if (++ended == kChildren) loop_.Stop();
        });
    ASSERT_TRUE(child.has_value());
    children.push_back(std::move(*child));
  }
  for (const auto& child : children) child->CloseInput();
  loop_.Run();
  EXPECT_EQ(well, kChildren);
  EXPECT_TRUE(EndsWithoutZombies(loop_));
}

TEST(FileWatcher, ReportsAFolderOnceForASaveByRename) {
  const std::string folder = testing::TempDir() + "/watched";
  std::filesystem::create_directories(folder);
  Loop loop;
  std::vector<std::string> changed;
  FileWatcher watcher(loop, std::chrono::milliseconds(20), [&](const std::string& name) {
    changed.push_back(name);
    loop.Stop();
  });
  ASSERT_TRUE(watcher.Watch(folder).has_value());
  std::ofstream(folder + "/new") << "text";
  std::filesystem::rename(folder + "/new", folder + "/kernel.cu");
  loop.Run();
  EXPECT_EQ(changed, std::vector<std::string>{folder});
  EXPECT_EQ(watcher.Watch(folder + "/none").error().code, base::ErrorCode::kNotFound);
}

// Far more often than the quiet time: were the report put off each time, it would never come.
TEST(FileWatcher, ReportsAFolderInWhichSomethingWritesAllTheTime) {
  const std::string folder = testing::TempDir() + "/written";
  std::filesystem::create_directories(folder);
  Loop loop;
  bool reported = false;
  FileWatcher watcher(loop, std::chrono::milliseconds(300), [&](const std::string&) {
    reported = true;
    loop.Stop();
  });
  ASSERT_TRUE(watcher.Watch(folder).has_value());
  int writes = 0;
  Timer writer(loop);
  writer.StartRepeating(std::chrono::milliseconds(5), [&] {
    std::ofstream(folder + "/log") << ++writes;
    if (writes == 2000) loop.Stop();
  });
  loop.Run();
  EXPECT_TRUE(reported);
}

}  // namespace
}  // namespace cupilot::loop
