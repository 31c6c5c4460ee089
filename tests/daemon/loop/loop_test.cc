#include "loop/loop.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "loop/thread_pool.h"
#include "loop/timer.h"
#include "tests/support/manual_clock.h"

namespace cupilot::loop {
namespace {

TEST(Loop, RunsPostedTasksInOrderFromAnyThread) {
  Loop loop;
  std::vector<int> order;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) loop.Post([&order, i] { order.push_back(i); });
    loop.Post([&loop] { loop.Stop(); });
  });
  loop.Run();
  other.join();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Loop, PostNeverRunsTheTaskInside) {
  Loop loop;
  bool ran = false;
  loop.Post([&ran] { ran = true; });
  EXPECT_FALSE(ran);
  loop.RunOnce(true);
  EXPECT_TRUE(ran);
}

TEST(Timer, FiresOnceAndCanBeRestartedFromItsCallback) {
  Loop loop;
  Timer timer(loop);
  int fired = 0;
  timer.Start(std::chrono::milliseconds(0), [&] {
    ++fired;
    timer.Start(std::chrono::milliseconds(0), [&] {
      ++fired;
      loop.Stop();
    });
  });
  loop.Run();
  EXPECT_EQ(fired, 2);
  EXPECT_FALSE(timer.active());
}

TEST(Timer, ARepeatingOneMayBeDestroyedByItsCallback) {
  Loop loop;
  auto timer = std::make_unique<Timer>(loop);
  int fired = 0;
  timer->StartRepeating(std::chrono::milliseconds(1), [&] {
    if (++fired < 3) return;
    timer.reset();
    loop.Stop();
  });
  loop.Run();
  EXPECT_EQ(fired, 3);
}

TEST(Timer, OfALoopWithAClockOfItsOwnItGoesByThatClock) {
  test::ManualClock clock;
  Loop loop(clock);
  EXPECT_FALSE(loop.NextTimer());
  std::vector<std::string> order;
  Timer late(loop), early(loop), cancelled(loop);
  auto repeating = std::make_unique<Timer>(loop);
  late.Start(std::chrono::hours(2), [&] { order.emplace_back("late"); });
  early.Start(std::chrono::minutes(1), [&] {
    order.emplace_back("early");
    // Due at once, but not before the next call.
    early.Start(std::chrono::milliseconds(0), [&] { order.emplace_back("again"); });
  });
  cancelled.Start(std::chrono::minutes(1), [&] { order.emplace_back("cancelled"); });
  cancelled.Cancel();
  EXPECT_FALSE(cancelled.active());
  int repeated = 0;
  repeating->StartRepeating(std::chrono::minutes(30), [&] {
    if (++repeated == 2) repeating.reset();
  });
  loop.RunTimers();
  loop.RunOnce(false);
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(loop.NextTimer(), std::chrono::nanoseconds(std::chrono::minutes(1)));
  clock.Advance(std::chrono::minutes(3));
  loop.RunTimers();
  EXPECT_EQ(order, std::vector<std::string>{"early"});
  EXPECT_TRUE(early.active());
  loop.RunTimers();
  EXPECT_EQ(order.back(), "again");
  EXPECT_FALSE(early.active());
  // Hours at once: each goes off once.
  clock.Advance(std::chrono::hours(5));
  loop.RunTimers();
  EXPECT_EQ(order.back(), "late");
  EXPECT_EQ(repeated, 1);
  clock.Advance(std::chrono::minutes(30));
  loop.RunTimers();
  EXPECT_EQ(repeated, 2);
  EXPECT_FALSE(loop.NextTimer());
}

TEST(ThreadPool, ResultsComeBackOnTheLoopThread) {
  Loop loop;
  ThreadPool pool(loop, 2);
  const auto loop_thread = std::this_thread::get_id();
  int sum = 0;
  int left = 20;
  for (int i = 0; i < 20; ++i) {
    pool.Run<int>([i] { return i; },
                  [&](int value) {
                    EXPECT_EQ(std::this_thread::get_id(), loop_thread);
                    sum += value;
                    if (--left == 0) loop.Stop();
                  });
  }
  loop.Run();
  EXPECT_EQ(sum, 190);
}

TEST(ThreadPool, WithoutThreadsWorkRunsAtOnceAndItsResultIsPosted) {
  Loop loop;
  ThreadPool pool(loop, 0);
  bool worked = false, done = false;
  pool.Run<int>(
      [&worked] {
        worked = true;
        return 1;
      },
      [&done](int) { done = true; });
  EXPECT_TRUE(worked);
  EXPECT_FALSE(done);
  loop.RunOnce(true);
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace cupilot::loop
