#include "service/in_flight.h"

#include <gtest/gtest.h>

namespace cupilot::service {
namespace {

TEST(InFlightTest, WhereTheGpuWaitsTheyBecomeMore) {
  InFlight in_flight(8, 6, 32);
  EXPECT_EQ(in_flight.limit(), 8);
  for (const int expected : {12, 18, 27, 32, 32}) {
    in_flight.OnResult(0);
    EXPECT_EQ(in_flight.limit(), expected);
  }
}

TEST(InFlightTest, WhereMuchWaitsForTheGpuTheyBecomeFewer) {
  InFlight in_flight(8, 6, 32);
  in_flight.OnResult(4);
  EXPECT_EQ(in_flight.limit(), 7);
  for (int i = 0; i < 10; ++i) in_flight.OnResult(5);
  EXPECT_EQ(in_flight.limit(), 6) << "never less than the least";
}

TEST(InFlightTest, WhereALittleWaitsTheyStay) {
  InFlight in_flight(8, 6, 32);
  for (const int built : {1, 2, 3}) in_flight.OnResult(built);
  EXPECT_EQ(in_flight.limit(), 8);
}

TEST(InFlightTest, WhereOnlyOneMayBeItIsOne) {
  InFlight in_flight(1, 1, 1);
  in_flight.OnResult(0);
  EXPECT_EQ(in_flight.limit(), 1);
  in_flight.OnResult(9);
  EXPECT_EQ(in_flight.limit(), 1);
}

}  // namespace
}  // namespace cupilot::service
