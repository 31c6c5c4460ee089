#include "service/build_patience.h"

#include <gtest/gtest.h>

namespace cupilot::service {
namespace {

TEST(BuildPatienceTest, AsLongAsLittleIsKnownAnythingMayTakeAnyTime) {
  BuildPatience patience;
  for (int i = 0; i < 11; ++i) patience.OnBuilt(10);
  for (int i = 0; i < 50; ++i) patience.OnBuilt(0);  // what was there says nothing
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

}  // namespace
}  // namespace cupilot::service
