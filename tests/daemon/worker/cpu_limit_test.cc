#include "worker/cpu_limit.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "protocol/worker_messages.h"

namespace cupilot::worker {
namespace {

void Spend(double seconds) {
  for (const double end = CpuSeconds() + seconds; CpuSeconds() < end;) {
  }
}

// SIG_BLOCK: the stop signal waits; SIG_UNBLOCK: it does not.
void SetStopSignal(int how) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, protocol::kStopSignal);
  ASSERT_EQ(::sigprocmask(how, &signals, nullptr), 0);
}

// As of waitpid().
int StatusOf(const std::function<void()>& run) {
  const pid_t child = ::fork();
  if (child == 0) {
    run();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(CpuLimitTest, WhatTakesMoreOfTheProcessorEnds) {
  const int status = StatusOf([] {
    const CpuLimit limit(0.02);
    for (;;) {
    }
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), protocol::kStopSignal);
}

TEST(CpuLimitTest, OnlyWhileItLivesAndWhereItIsSet) {
  const int status = StatusOf([] {
    {
      const CpuLimit limit(0.1);
    }
    const CpuLimit none(0);
    Spend(0.15);
  });
  EXPECT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
}

TEST(CpuLimitTest, ChildrenHaveNone) {
  const int status = StatusOf([] {
    // The limit is the parent's, and making a child may take all of it (a sanitizer's memory is
    // large): it must not end the parent here.
    SetStopSignal(SIG_BLOCK);
    const CpuLimit limit(0.02);
    const int child = StatusOf([] {
      SetStopSignal(SIG_UNBLOCK);
      Spend(0.05);
    });
    ::_exit(WIFEXITED(child) ? 0 : 1);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace cupilot::worker
