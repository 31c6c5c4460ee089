// What an original fails on that takes an index of a number is not asked for ever.
#include "worker/outside_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/element.h"
#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

class OutsideRangeTest : public ::testing::Test {
 protected:
  OutsideRangeTest() {
    records::Case one = MakeCase();
    one.arguments[0].fill->kind = "uniform";
    one.arguments[0].fill->low = "0";
    one.arguments[0].fill->high = "1";
    plan_ = MakePlan(one);
    for (const Region& region : plan_.layout.regions) {
      inside_.regions.emplace_back(region.input ? static_cast<std::size_t>(region.bytes()) : 0);
    }
  }

  // With that as its element 7.
  CaseInputs With(double value) const {
    CaseInputs inputs = inside_;
    device::WriteNumber(inputs.regions[0].data(), 7, plan_.layout.regions[0].type, value);
    return inputs;
  }

  CasePlan plan_;
  CaseInputs inside_;
};

TEST_F(OutsideRangeTest, IsWhatTheFillDoesNotSay) {
  EXPECT_FALSE(LeavesRange(plan_.layout, inside_));
  for (const double value : {0.0, 0.5, 1.0}) EXPECT_FALSE(LeavesRange(plan_.layout, With(value)));
  for (const double value : {-0.5, 1.5, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_TRUE(LeavesRange(plan_.layout, With(value))) << value;
  }
}

TEST_F(OutsideRangeTest, ZerosThatTheFillSaysAreInside) {
  for (Region& region : plan_.layout.regions) {
    if (region.fill) region.fill->low = 0.5;
  }
  for (std::int64_t i = 0; i < plan_.layout.regions[0].count; ++i) {
    device::WriteNumber(inside_.regions[0].data(), i, plan_.layout.regions[0].type, 0.75);
  }
  EXPECT_TRUE(LeavesRange(plan_.layout, With(0)));
  for (Region& region : plan_.layout.regions) {
    if (region.fill) region.fill->zeros = 0.5;
  }
  EXPECT_FALSE(LeavesRange(plan_.layout, With(0)));
  EXPECT_TRUE(LeavesRange(plan_.layout, With(0.25)));
}

TEST_F(OutsideRangeTest, AfterSomeFailuresNoMoreSuchContentsAreAsked) {
  OutsideRange outside;
  for (int i = 0; i < OutsideRange::kMostFailures; ++i) {
    EXPECT_TRUE(outside.IsAsked(plan_.layout, With(1000)));
    outside.Failed(plan_.layout, With(1000));
  }
  EXPECT_FALSE(outside.IsAsked(plan_.layout, With(1000)));
  EXPECT_TRUE(outside.IsAsked(plan_.layout, With(0.5))) << "the others are";
}

TEST_F(OutsideRangeTest, OtherFailuresDoNotCount) {
  OutsideRange outside;
  for (int i = 0; i < 2 * OutsideRange::kMostFailures; ++i) outside.Failed(plan_.layout, inside_);
  EXPECT_TRUE(outside.IsAsked(plan_.layout, With(1000)));
}

}  // namespace
}  // namespace cupilot::worker
