#include "host_runtime/src/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace cupilot_host {
namespace {

constexpr std::chrono::milliseconds kNone(0);
constexpr std::chrono::minutes kLong(10);

TEST(Gate, WhoIsAloneIsAlone) {
  Gate gate(kLong);
  int value = 0;
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        if ((i + t) % 3 == 0) {
          wrong = wrong || !gate.EnterAlone();
          gate.BeginRun();
          ++value;  // a race, were another one inside
          wrong = wrong || !gate.EndRun();
          gate.LeaveAlone();
        } else {
          gate.Enter();
          wrong = wrong || value < 0;
          gate.Leave();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
  EXPECT_EQ(value, 500);
}

// A kernel that waits for what another thread copies.
TEST(Gate, WhatALaunchWaitsForComesInAndIsNoticed) {
  Gate gate(kNone);
  ASSERT_TRUE(gate.EnterAlone());
  gate.BeginRun();
  std::thread([&] {
    gate.Enter();
    gate.Leave();
  }).join();
  EXPECT_FALSE(gate.EndRun());
  gate.LeaveAlone();
  ASSERT_TRUE(gate.EnterAlone());
  gate.BeginRun();
  EXPECT_TRUE(gate.EndRun());
  gate.LeaveAlone();
}

TEST(Gate, NobodyComesInWhileMemoryIsRead) {
  Gate gate(kNone);
  ASSERT_TRUE(gate.EnterAlone());
  std::atomic<bool> reads{true};
  std::promise<void> begun;
  std::thread other([&] {
    begun.set_value();
    gate.Enter();
    EXPECT_FALSE(reads);
    gate.Leave();
  });
  begun.get_future().wait();
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  reads = false;
  gate.LeaveAlone();
  other.join();
}

TEST(Gate, WhoFindsOthersInsideGivesUpAndBarsNobody) {
  Gate gate(kNone);
  gate.Enter();
  std::thread([&] {
    EXPECT_FALSE(gate.EnterAlone());
    gate.Enter();
    gate.Leave();
  }).join();
  gate.Leave();
  EXPECT_TRUE(gate.EnterAlone());
  gate.LeaveAlone();
}

}  // namespace
}  // namespace cupilot_host
