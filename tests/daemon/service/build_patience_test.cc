#include "service/build_patience.h"

#include <gtest/gtest.h>

namespace cupilot::service {
namespace {

TEST(BuildPatienceTest, AsLongAsLittleIsKnownAnythingMayTakeAnyTime) {
  BuildPatience patience;
  for (int i = 0; i < 11; ++i) patience.OnBuilt(10);
  for (int i = 0; i < 50; ++i) patience.OnBuilt(0);  // not known
  EXPECT_EQ(patience.limit(), 0);
  patience.OnBuilt(10);
  EXPECT_EQ(patience.limit(), 40);
}

TEST(BuildPatienceTest, AFewThatTakeLongChangeNothing) {
  BuildPatience patience;
  for (int i = 0; i < 20; ++i) patience.OnBuilt(2);
  for (int i = 0; i < 5; ++i) patience.OnBuilt(60);
  EXPECT_EQ(patience.limit(), 8);
}

TEST(BuildPatienceTest, WhatIsBuiltSoonIsNotStoppedForAFewSeconds) {
  BuildPatience patience;
  for (int i = 0; i < 20; ++i) patience.OnBuilt(0.05);
  EXPECT_EQ(patience.limit(), 4);
}

// A search comes to where candidates are larger.
TEST(BuildPatienceTest, TheLastOnesCount) {
  BuildPatience patience;
  for (int i = 0; i < 500; ++i) patience.OnBuilt(1);
  for (int i = 0; i < 40; ++i) patience.OnBuilt(4);
  EXPECT_EQ(patience.limit(), 16);
}

TEST(BuildPatienceTest, WhereAllTakeLongNoneIsStoppedForEver) {
  BuildPatience patience;
  for (int i = 0; i < 12; ++i) patience.OnBuilt(1.5);
  int stopped = 0;
  for (int i = 0; i < 100; ++i) {
    const bool stops = patience.limit() < 10;
    patience.OnBuilt(stops ? patience.limit() : 10);
    stopped += stops;
  }
  EXPECT_GT(stopped, 0);
  EXPECT_LT(stopped, 40);
  EXPECT_EQ(patience.limit(), 40);
}

}  // namespace
}  // namespace cupilot::service
