#include "base/child.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

namespace cupilot::base {
namespace {

using std::chrono::milliseconds;

// A child that ends with 3 once the pipe's end `input` is closed here.
pid_t StartChild(int& input) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    char byte;
    (void)!::read(ends[0], &byte, 1);
    ::_exit(3);
  }
  ::close(ends[0]);
  input = ends[1];
  return child;
}

// A zombie can still be sent a signal.
bool IsReaped(pid_t pid) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (::kill(pid, 0) == 0) {
    if (std::chrono::steady_clock::now() > limit) return false;
    ::sched_yield();
  }
  return true;
}

TEST(ReapedChild, IsNoZombieWhenNobodyHoldsItAnyMore) {
  int input = -1;
  const pid_t pid = StartChild(input);
  ASSERT_GT(pid, 0);
  {
    const ReapedChild child(pid);
  }
  ::close(input);
  EXPECT_TRUE(IsReaped(pid));
}

TEST(ReapedChild, IsNoZombieWhileNobodyAsksForItsStatus) {
  int input = -1;
  const pid_t pid = StartChild(input);
  const ReapedChild child(pid);
  EXPECT_FALSE(child.WaitFor(milliseconds(0)));
  ::close(input);
  EXPECT_TRUE(IsReaped(pid));
  EXPECT_EQ(WEXITSTATUS(child.Wait()), 3);
  EXPECT_EQ(WEXITSTATUS(child.Wait()), 3);
  EXPECT_TRUE(child.WaitFor(milliseconds(0)));
  child.Kill();
}

TEST(ReapedChild, IsKilled) {
  int input = -1;
  const ReapedChild child(StartChild(input));
  child.Kill();
  EXPECT_EQ(WTERMSIG(child.Wait()), SIGKILL);
  ::close(input);
}

TEST(ReapedChild, NoneHasNoStatus) {
  const ReapedChild none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.Wait(), -1);
  none.Kill();
}

}  // namespace
}  // namespace cupilot::base
