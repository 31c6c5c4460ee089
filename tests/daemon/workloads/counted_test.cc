// What was recorded of a kernel stays when a later capture only counts its launches.
#include "workloads/counted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cupilot::workloads {
namespace {

using ::testing::ElementsAre;

CapturedLaunches Launches(const std::string& name, std::int64_t grid, double microseconds,
                          std::vector<std::string> cases) {
  CapturedLaunches launches;
  launches.name = name;
  launches.grid = {grid, 1, 1};
  launches.block = {64, 1, 1};
  launches.calls = 3;
  launches.microseconds = microseconds;
  launches.cases = std::move(cases);
  return launches;
}

records::Case CaseOf(const std::string& name, double weight) {
  records::Case one;
  one.name = name;
  one.weight = weight;
  return one;
}

class CountedTest : public ::testing::Test {
 protected:
  CountedTest() {
    recorded_.kernel = counted_.kernel = "app::blur";
    recorded_.device = counted_.device = "host";
    recorded_.date = "2026-01-01T00:00:00Z";
    counted_.date = "2026-02-02T00:00:00Z";
    recorded_.replaces_tag = true;
    recorded_.launches = {Launches("n=8", 8, 80, {"n=8", "n=8 #2"}),
                          Launches("n=4", 4, 20, {"n=4"})};
    recorded_.cases = {CaseOf("n=8", 40), CaseOf("n=8 #2", 40), CaseOf("n=4", 20)};
  }

  Captured recorded_, counted_;
};

TEST_F(CountedTest, LaunchesThatBothSawWeighAsTheLaterRunSays) {
  counted_.launches = {Launches("grid 4x1x1", 4, 300, {}), Launches("grid 5x1x1", 5, 7, {})};
  counted_.launches[0].calls = 9;
  ASSERT_TRUE(KeepRecorded(recorded_, counted_));
  ASSERT_EQ(counted_.cases.size(), 3u);
  EXPECT_EQ(counted_.cases[0].weight, 40) << "not seen";
  EXPECT_EQ(counted_.cases[2].weight, 300);
  ASSERT_EQ(counted_.launches.size(), 2u);
  EXPECT_EQ(counted_.launches[0].name, "n=4") << "the longest first";
  EXPECT_EQ(counted_.launches[0].calls, 9);
  EXPECT_THAT(counted_.launches[0].cases, ElementsAre("n=4"));
  EXPECT_TRUE(counted_.replaces_tag);
  EXPECT_EQ(counted_.date, recorded_.date) << "of what was recorded";
}

TEST_F(CountedTest, CasesOfOneGeometryShareItsTime) {
  counted_.launches = {Launches("n=8", 8, 100, {})};
  ASSERT_TRUE(KeepRecorded(recorded_, counted_));
  EXPECT_EQ(counted_.cases[0].weight, 50);
  EXPECT_EQ(counted_.cases[1].weight, 50);
  EXPECT_EQ(counted_.cases[2].weight, 20);
}

TEST_F(CountedTest, OneGeometryWithOtherScalarsIsToldByItsName) {
  recorded_.launches[1].grid = {8, 1, 1};
  counted_.launches = {Launches("n=9", 8, 500, {}), Launches("n=4", 8, 30, {})};
  ASSERT_TRUE(KeepRecorded(recorded_, counted_));
  EXPECT_EQ(counted_.cases[0].weight, 40);
  EXPECT_EQ(counted_.cases[2].weight, 30);
}

TEST_F(CountedTest, TimesOfAnotherDeviceAndUntimedLaunchesLeaveTheWeights) {
  counted_.launches = {Launches("n=4", 4, 0, {})};
  Captured elsewhere = counted_;
  ASSERT_TRUE(KeepRecorded(recorded_, counted_));
  EXPECT_EQ(counted_.cases, recorded_.cases);
  elsewhere.device = "cuda";
  elsewhere.launches[0].microseconds = 900;
  ASSERT_TRUE(KeepRecorded(recorded_, elsewhere));
  EXPECT_EQ(elsewhere.cases, recorded_.cases);
  EXPECT_EQ(elsewhere.device, "host");
}

TEST_F(CountedTest, WhatIsRecordedAnewTakesThePlace) {
  counted_.cases = {CaseOf("n=5", 1)};
  EXPECT_FALSE(KeepRecorded(recorded_, counted_));
  EXPECT_EQ(counted_.cases.size(), 1u);
  Captured before = counted_;
  before.cases.clear();
  counted_.cases.clear();
  EXPECT_FALSE(KeepRecorded(before, counted_)) << "neither has any";
}

}  // namespace
}  // namespace cupilot::workloads
