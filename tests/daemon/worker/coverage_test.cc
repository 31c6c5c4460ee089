#include "worker/coverage.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cupilot::worker {
namespace {

TEST(Coverage, TheLeastShareIsTheOneSidedInterval) {
  EXPECT_EQ(LeastShare(0, 0), 0);
  EXPECT_EQ(LeastShare(32, 0), 0);
  // All of n: share^n = 0.001.
  EXPECT_NEAR(LeastShare(32, 32), std::pow(0.001, 1.0 / 32), 1e-9);
  EXPECT_NEAR(LeastShare(1, 1), 0.001, 1e-9);
  // One of n: 1 - (1 - share)^n = 0.001.
  EXPECT_NEAR(LeastShare(32, 1), 1 - std::pow(0.999, 1.0 / 32), 1e-9);
  EXPECT_LT(LeastShare(32, 16), 0.5);
  EXPECT_GT(LeastShare(32, 16), 0.2);
  EXPECT_GT(LeastShare(32, 31), LeastShare(32, 30));
}

}  // namespace
}  // namespace cupilot::worker
