#include "worker/floor.h"

#include <gtest/gtest.h>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

OriginalResult ReferenceOf(const CasePlan& plan) {
  OriginalResult reference;
  reference.outputs.resize(plan.layout.regions.size());
  return reference;
}

TEST(Floor, CountsWhatMattersAndWhatTheOriginalWrites) {
  const CasePlan plan = MakePlan();
  OriginalResult reference = ReferenceOf(plan);
  EXPECT_EQ(NecessaryTraffic(plan, reference, {{1, 1}, {0, 0}}).bytes(), 2 * 4 * kCount);
  EXPECT_EQ(NecessaryTraffic(plan, reference, {{0.5, 1}, {0, 0}}).read, 4 * (kCount / 2));
  EXPECT_EQ(NecessaryTraffic(plan, reference, {{0.5, 1}, {0, 0}}).likely_read, 4 * kCount);
  EXPECT_EQ(NecessaryTraffic(plan, reference, {{0, 1}, {0, 0}}).bytes(), 4 * kCount);
  reference.outputs[1].unwritten.assign(kCount, false);
  reference.outputs[1].unwritten[3] = true;
  EXPECT_EQ(NecessaryTraffic(plan, reference, {{1, 1}, {0, 0}}).bytes(), 2 * 4 * kCount - 4);
}

// A machine whose rate is what the test says next; how often it was asked.
struct FakeMachine {
  double rate = 0;
  int asked = 0;
  std::int64_t size = 0;
  PeakRates rates{[this](std::int64_t bytes) {
    ++asked;
    size = bytes;
    return rate;
  }};
};

TEST(Floor, RatesAreMeasuredOnceASizeAndOnlyGrow) {
  FakeMachine machine;
  machine.rate = 1000;
  EXPECT_EQ(machine.rates.FloorUs(1 << 20), (1 << 20) / 1000.0);
  EXPECT_EQ(machine.rates.FloorUs((1 << 20) + 5), ((1 << 20) + 5) / 1000.0);
  EXPECT_EQ(machine.asked, 1);
  EXPECT_EQ(machine.size, 1 << 20);
  machine.rates.FloorUs(1 << 22);
  EXPECT_EQ(machine.asked, 2) << "caches make the rate one of the size";
  machine.rate = 500;
  machine.rates.MeasureAgain(1 << 20);
  EXPECT_EQ(machine.rates.FloorUs(1 << 20), (1 << 20) / 1000.0);
}

TEST(Floor, BelowItIsImpossibleOnlyAfterTheRateWasMeasuredAgain) {
  constexpr std::int64_t kBytes = 1 << 20;
  FakeMachine slow;
  slow.rate = 1000;  // floor of about 1049 us
  EXPECT_FALSE(CompareWithFloor(slow.rates, kBytes, 5000, 1200).impossible);
  EXPECT_EQ(slow.asked, 1);
  EXPECT_TRUE(CompareWithFloor(slow.rates, kBytes, 5000, 800).impossible);
  EXPECT_GT(slow.asked, 1);
  slow.rate = 2000;  // it had been disturbed
  const FloorResult mended = CompareWithFloor(slow.rates, kBytes, 5000, 800);
  EXPECT_FALSE(mended.impossible);
  EXPECT_EQ(mended.floor_us, kBytes / 2000.0);
}

TEST(Floor, IsUnknownWhereTheOriginalIsBelowIt) {
  FakeMachine machine;
  machine.rate = 1;
  const FloorResult result = CompareWithFloor(machine.rates, 1 << 20, 100, 50);
  EXPECT_EQ(result.floor_us, 0);
  EXPECT_FALSE(result.impossible);
  EXPECT_EQ(CompareWithFloor(machine.rates, 0, 100, 50).floor_us, 0);
}

TEST(Floor, OfAGpuIsItsPeaksAndItsLaunchUntilTheyAreMeasuredAgain) {
  const records::Json disturbed = {
      {"read", 1000.0}, {"write", 900.0}, {"copy", 1100.0}, {"launch_us", 4.0}};
  records::Json again = disturbed;
  PeakRates rates(disturbed, [&again] { return again; });
  EXPECT_EQ(rates.FloorUs(11000), 10.0) << "the greatest rate of any mix";
  EXPECT_EQ(rates.FloorUs(1100), 4.0) << "no launch is shorter";
  EXPECT_TRUE(CompareWithFloor(rates, 1100, 4.5, 3.5).impossible);
  again["launch_us"] = 2.0;
  EXPECT_FALSE(CompareWithFloor(rates, 1100, 4.5, 3.5).impossible);
  EXPECT_EQ(rates.peaks()["launch_us"], 2.0);
  again = records::Json::object();  // not to be had
  rates.MeasureAgain(1100);
  EXPECT_EQ(rates.FloorUs(1100), 2.0);
}

TEST(Floor, ThisMachineMovesBytes) { EXPECT_GT(MeasureHostRate(1 << 16), 0); }

}  // namespace
}  // namespace cupilot::worker
