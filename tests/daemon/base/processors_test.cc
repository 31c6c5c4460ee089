#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "tests/support/temporary_folder.h"

namespace cupilot::base {
namespace {

// Of the calling thread.
int InMask() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

TEST(UsableProcessors, AreThoseOfTheMaskWhereNothingElseIsSaid) {
  const test::TemporaryFolder root;
  EXPECT_EQ(UsableProcessors(root.path()), InMask());
  int narrowed = 0;
  std::thread([&] {
    cpu_set_t set;
    ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
    narrowed = UsableProcessors(root.path());
  }).join();
  EXPECT_EQ(narrowed, 1);
}

class UsableProcessorsOfGroupsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (InMask() < 2) GTEST_SKIP() << "one processor: no group can allow less";
    root_.Write("proc/self/cgroup", "4:memory:/elsewhere\n0::/user.slice/app.scope\n");
  }
  int WithLimit(const std::string& group, const std::string& limit) {
    root_.Write("sys/fs/cgroup" + group + "/cpu.max", limit);
    return UsableProcessors(root_.path());
  }

  test::TemporaryFolder root_;
};

TEST_F(UsableProcessorsOfGroupsTest, AreWhatTheOwnGroupAllows) {
  EXPECT_EQ(WithLimit("/user.slice/app.scope", "max 100000\n"), InMask());
  EXPECT_EQ(WithLimit("/user.slice/app.scope", "100000 100000\n"), 1);
  EXPECT_EQ(WithLimit("/user.slice/app.scope", "5000 100000\n"), 1);
  EXPECT_EQ(WithLimit("/user.slice/app.scope", "150000 100000\n"), 2);
  EXPECT_EQ(WithLimit("/user.slice/app.scope", "900000000 100000\n"), InMask());
}

TEST_F(UsableProcessorsOfGroupsTest, AreWhatTheGroupsAboveAllow) {
  EXPECT_EQ(WithLimit("/user.slice", "50000 100000\n"), 1);
  EXPECT_EQ(WithLimit("/user.slice", "max 100000\n"), InMask());
  EXPECT_EQ(WithLimit("", "100000 100000\n"), 1);  // of a container, whose own is the root
}

TEST_F(UsableProcessorsOfGroupsTest, WhatIsNoLimitIsNone) {
  for (const char* text : {"", "max", "nonsense", "0 0", "-1 100000", "100000"}) {
    EXPECT_EQ(WithLimit("/user.slice/app.scope", text), InMask()) << text;
  }
  root_.Write("proc/self/cgroup", "4:cpu:/version1\n");
  EXPECT_EQ(WithLimit("/user.slice/app.scope", "100000 100000\n"), InMask());
}

}  // namespace
}  // namespace cupilot::base
