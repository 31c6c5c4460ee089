#include "worker/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cupilot::worker {
namespace {

using records::Json;
using Counters = std::map<std::string, double>;

const Json kPeaks = {{"read", 4000.0},
                     {"write", 2000.0},
                     {"copy", 3200.0},
                     {"launch_us", 1.0},
                     {"arithmetic", {{"fp32", 60000.0}, {"fp64", 30000.0}}}};

TEST(Roofline, BandwidthGoesBetweenTheMixesThatWereMeasured) {
  EXPECT_DOUBLE_EQ(BandwidthOf(kPeaks, 0), 4000);
  EXPECT_DOUBLE_EQ(BandwidthOf(kPeaks, 0.5), 3200);
  EXPECT_DOUBLE_EQ(BandwidthOf(kPeaks, 1), 2000);
  // A quarter written: half of the way, in time.
  EXPECT_DOUBLE_EQ(BandwidthOf(kPeaks, 0.25), 2 / (1 / 4000.0 + 1 / 3200.0));
  EXPECT_EQ(BandwidthOf(Json::object(), 0), 0);
}

TEST(Roofline, NecessaryTrafficAloneCanNameMemory) {
  const Roofline roofline = PlaceOnRoofline(kPeaks, {4000 * 80, 0}, 100, {});
  EXPECT_EQ(roofline.bound, "dram");
  EXPECT_DOUBLE_EQ(roofline.share, 0.8);
}

TEST(Roofline, WhatIsMovedNeedlesslyCountsToo) {
  const Counters counters = {{"dram__bytes_read.sum", 4000.0 * 90}};
  const Roofline roofline = PlaceOnRoofline(kPeaks, {4000 * 30, 0}, 100, counters);
  EXPECT_EQ(roofline.bound, "dram");
  EXPECT_DOUBLE_EQ(roofline.share, 0.9);
}

TEST(Roofline, WithoutCountersWhatIsFarFromMemoryHasNoName) {
  const Roofline roofline = PlaceOnRoofline(kPeaks, {4000 * 10, 0}, 100, {});
  EXPECT_EQ(roofline.bound, "");
  EXPECT_DOUBLE_EQ(roofline.share, 0.1);
}

TEST(Roofline, ArithmeticIsNamedByItsPipe) {
  const Counters counters = {
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 60000.0 * 100 * 0.4},
      {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 60000.0 * 100 * 0.1}};
  const Roofline roofline = PlaceOnRoofline(kPeaks, {4000, 0}, 100, counters);
  EXPECT_EQ(roofline.bound, "fp32");
  EXPECT_DOUBLE_EQ(roofline.share, 0.9);
  EXPECT_DOUBLE_EQ(roofline.operations.at("fp32"), 60000.0 * 100 * 0.9);
}

TEST(Roofline, TheHardwaresOwnWordNamesOtherCeilings) {
  EXPECT_EQ(PlaceOnRoofline(kPeaks, {4000, 0}, 100,
                            {{"lts__throughput.avg.pct_of_peak_sustained_elapsed", 85}})
                .bound,
            "l2");
  EXPECT_EQ(PlaceOnRoofline(kPeaks, {4000, 0}, 100,
                            {{"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 75}})
                .bound,
            "special");
}

TEST(Roofline, NothingNearIsLatencyAndAShortLaunchIsTheLaunch) {
  const Counters idle = {{"sm__inst_issued.avg.pct_of_peak_sustained_active", 20}};
  EXPECT_EQ(PlaceOnRoofline(kPeaks, {4000, 0}, 100, idle).bound, "latency");
  const Roofline launch = PlaceOnRoofline(kPeaks, {400, 0}, 1.8, idle);
  EXPECT_EQ(launch.bound, "launch");
  EXPECT_DOUBLE_EQ(launch.share, 1 / 1.8);
}

TEST(Roofline, EveryCounterThatIsReadIsAskedFor) {
  // Each of these alone makes a difference only if its name is the one that is asked for.
  const auto& asked = CuratedMetrics();
  for (const char* name : {"dram__bytes_read.sum", "dram__bytes_write.sum",
                           "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
                           "l1tex__throughput.avg.pct_of_peak_sustained_active"}) {
    EXPECT_NE(std::find(asked.begin(), asked.end(), name), asked.end()) << name;
    const Roofline with = PlaceOnRoofline(kPeaks, {400, 0}, 100, {{name, 50.0}});
    const Roofline without = PlaceOnRoofline(kPeaks, {400, 0}, 100, {});
    EXPECT_TRUE(with.shares != without.shares || with.bound != without.bound) << name;
  }
}

}  // namespace
}  // namespace cupilot::worker
