#include "service/in_flight.h"

#include <gtest/gtest.h>

namespace cupilot::service {
namespace {

// Candidate `id` comes to an idle GPU and is looked at for 0.1 s; then it has nothing for `idle` s.
class OneByOne {
 public:
  explicit OneByOne(int first) : in_flight({first, 6, 32}) {}
  void Look(int id, int last, double idle, int backlog = 0) {
    in_flight.OnBuilt(now_, id, last, {0, backlog});
    in_flight.OnResult(now_ += 0.1, {0, backlog});
    now_ += idle;
  }
  InFlight in_flight;

 private:
  double now_ = 100;
};

TEST(InFlightTest, WhereTheGpuWaitsTheyBecomeMoreByHowLongItWaits) {
  OneByOne gpu(8);
  gpu.Look(1, 8, 0.25);
  EXPECT_EQ(gpu.in_flight.limit(), 8) << "before the first it waited for something else";
  gpu.Look(2, 9, 0);
  EXPECT_EQ(gpu.in_flight.limit(), 11) << "three looks would have fitted";
  OneByOne slow(8);
  slow.Look(1, 8, 5);
  EXPECT_EQ(slow.in_flight.limit(), 8);
  slow.Look(2, 9, 5);
  EXPECT_EQ(slow.in_flight.limit(), 18) << "half as many again, twice: it will wait again";
  for (const int id : {3, 4}) slow.Look(id, 30, 5);
  EXPECT_EQ(slow.in_flight.limit(), 32) << "never more than the most";
}

// What was asked for before knows nothing of it.
TEST(InFlightTest, WhatMoreOnesBringIsWaitedFor) {
  OneByOne gpu(8);
  gpu.Look(1, 8, 0.65);
  gpu.Look(2, 9, 0.65);
  ASSERT_EQ(gpu.in_flight.limit(), 12);
  for (const int id : {3, 4, 8, 9}) gpu.Look(id, 13, 0.65);
  EXPECT_EQ(gpu.in_flight.limit(), 12);
  gpu.Look(10, 14, 0.65);
  EXPECT_EQ(gpu.in_flight.limit(), 18);
}

TEST(InFlightTest, WhereBuildsWaitForAProcessorTheyDoNotBecomeMore) {
  OneByOne gpu(8);
  for (int id = 1; id < 9; ++id) gpu.Look(id, 8 + id, 5, 1);
  EXPECT_EQ(gpu.in_flight.limit(), 8);
  gpu.Look(9, 18, 5);
  EXPECT_GT(gpu.in_flight.limit(), 8);
}

TEST(InFlightTest, WhereMuchAlwaysWaitsForTheGpuTheyBecomeFewer) {
  InFlight in_flight({8, 6, 32});
  for (int i = 0; i < 3; ++i) in_flight.OnResult(i, {5});
  EXPECT_EQ(in_flight.limit(), 8) << "too early to tell";
  in_flight.OnResult(3, {3});
  EXPECT_EQ(in_flight.limit(), 7) << "once there were three";
  for (int i = 0; i < 4; ++i) in_flight.OnResult(4 + i, {5});
  EXPECT_EQ(in_flight.limit(), 6) << "never less than the least";
}

TEST(InFlightTest, WhereManyBuildsAlwaysWaitForAProcessorTheyBecomeFewer) {
  InFlight in_flight({12, 6, 32});
  for (const int backlog : {4, 6, 4, 5}) {
    in_flight.OnResult(1, {0, backlog});
  }
  EXPECT_EQ(in_flight.limit(), 9);
  for (const int backlog : {4, 1, 4, 5}) {
    in_flight.OnResult(2, {0, backlog});
  }
  EXPECT_EQ(in_flight.limit(), 9) << "one is ready for who becomes free";
}

TEST(InFlightTest, WhereALittleWaitsTheyStay) {
  InFlight in_flight({8, 6, 32});
  for (const int built : {1, 3, 3, 3}) {
    in_flight.OnBuilt(built, built, 9, {built});
    in_flight.OnResult(built + 0.5, {built});
  }
  EXPECT_EQ(in_flight.limit(), 8);
}

TEST(InFlightTest, WhereOnlyOneMayBeItIsOne) {
  InFlight in_flight({1, 1, 1});
  in_flight.OnResult(1, {});
  in_flight.OnBuilt(2, 2, 2, {});
  EXPECT_EQ(in_flight.limit(), 1);
  in_flight.OnResult(3, {9});
  EXPECT_EQ(in_flight.limit(), 1);
}

}  // namespace
}  // namespace cupilot::service
