// Which request starts next.
#include "evaluate/work_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace cupilot::evaluate {
namespace {

WorkerCall Call(WorkerKind kind, const std::string& device, bool exclusive = false) {
  WorkerCall call;
  call.kind = kind;
  call.device = device;
  call.exclusive = exclusive;
  return call;
}

const WorkerCall kHostBuild = Call(WorkerKind::kBuild, "host");
const WorkerCall kGpuBuild = Call(WorkerKind::kBuild, "cuda:0");
const WorkerCall kHostVerify = Call(WorkerKind::kDevice, "host");
const WorkerCall kHostMeasure = Call(WorkerKind::kDevice, "host", true);
const WorkerCall kFirstGpu = Call(WorkerKind::kDevice, "cuda:0");
const WorkerCall kSecondGpu = Call(WorkerKind::kDevice, "cuda:1");
const WorkerCall kSample = Call(WorkerKind::kMonitor, "host");

using Calls = std::vector<const WorkerCall*>;

int Next(const Calls& waiting, const Calls& running, int cores = 8) {
  const auto next = NextToStart(waiting, running, LimitsFor(cores));
  return next ? static_cast<int>(*next) : -1;
}

TEST(WorkOrderTest, EachDeviceHasOneWorker) {
  EXPECT_EQ(Next({&kFirstGpu}, {&kFirstGpu}), -1);
  EXPECT_EQ(Next({&kFirstGpu, &kSecondGpu}, {&kFirstGpu}), 1);
  EXPECT_EQ(Next({&kFirstGpu}, {&kHostVerify}), 0);
}

// A search goes on while something is proven that takes a hundred times as long as a probe.
TEST(WorkOrderTest, AProofHasAWorkerOfItsOwnOnAGpu) {
  WorkerCall proof = kFirstGpu;
  proof.lane = 1;
  EXPECT_EQ(Next({&kFirstGpu}, {&proof}), 0);
  EXPECT_EQ(Next({&proof}, {&kFirstGpu}), 0);
  EXPECT_EQ(Next({&proof, &kFirstGpu}, {&proof}), 1);
  WorkerCall other_lane = kFirstGpu;
  other_lane.lane = 2;
  EXPECT_EQ(Next({&other_lane}, {&proof, &kFirstGpu}), 0);
  EXPECT_EQ(ProofLanesFor(2), 1);
  EXPECT_EQ(ProofLanesFor(8), 2);
  EXPECT_EQ(ProofLanesFor(16), 4);
  EXPECT_EQ(ProofLanesFor(128), 4);
}

TEST(WorkOrderTest, OnAGpuBuildsAndMeasurementsDoNotWaitForEachOther) {
  EXPECT_EQ(Next({&kFirstGpu}, {&kGpuBuild, &kGpuBuild}), 0);
  EXPECT_EQ(Next({&kGpuBuild}, {&kFirstGpu}), 0);
  // Also when no build may start, what is behind it may.
  const Calls full(7, &kGpuBuild);
  EXPECT_EQ(Next({&kGpuBuild, &kFirstGpu}, full), 1);
}

// It would be read when the search on the GPU is over.
TEST(WorkOrderTest, AnEditedSourceIsReadBesideASearchOnAGpu) {
  const WorkerCall scan = Call(WorkerKind::kSource, "host");
  const WorkerCall rewrite = Call(WorkerKind::kSource, "cuda:0");
  const Calls full(
      static_cast<std::size_t>(LimitsFor(8).gpu[static_cast<std::size_t>(WorkerKind::kSource)]),
      &rewrite);
  EXPECT_EQ(Next({&rewrite}, full), -1);
  EXPECT_EQ(Next({&rewrite, &scan}, full), 1);
  EXPECT_EQ(Next({&scan, &rewrite}, {&scan}), 1);
  EXPECT_EQ(Next({&kHostBuild}, Calls(7, &kGpuBuild)), 0);
}

TEST(WorkOrderTest, OnTheHostNothingRunsBesideAMeasurement) {
  EXPECT_EQ(Next({&kHostBuild}, {&kHostMeasure}), -1);
  EXPECT_EQ(Next({&kFirstGpu, &kGpuBuild}, {&kHostMeasure}), -1);
  EXPECT_EQ(Next({&kHostMeasure, &kHostBuild}, {&kHostBuild}), -1);
  EXPECT_EQ(Next({&kHostMeasure, &kHostBuild}, {}), 0);
}

TEST(WorkOrderTest, TheMonitorWaitsForNobodyAndHoldsUpNobody) {
  EXPECT_EQ(Next({&kSample}, {&kHostMeasure}), 0);
  EXPECT_EQ(Next({&kHostMeasure, &kSample}, {&kHostBuild}), 1);
  EXPECT_EQ(Next({&kHostMeasure}, {&kSample}), 0);
}

// A search is told results in the order of its asking: who was asked for first is not to be
// measured last because its build took longer.
TEST(WorkOrderTest, ASearchsCallsKeepItsOrder) {
  const auto in_line = [](WorkerKind kind, const std::string& line, std::int64_t place) {
    WorkerCall call = Call(kind, "cuda:0");
    call.line = line;
    call.place = place;
    return call;
  };
  const WorkerCall second = in_line(WorkerKind::kDevice, "kernel", 2);
  const WorkerCall other = in_line(WorkerKind::kDevice, "other kernel", 9);
  const WorkerCall build = in_line(WorkerKind::kBuild, "kernel", 7);
  const WorkerCall fifth = in_line(WorkerKind::kDevice, "kernel", 5);
  const Calls waiting = {&other, &build, &second, &kFirstGpu, &fifth};
  EXPECT_EQ(PlaceInQueue(waiting, in_line(WorkerKind::kDevice, "kernel", 1)), 2u);
  EXPECT_EQ(PlaceInQueue(waiting, in_line(WorkerKind::kDevice, "kernel", 3)), 4u);
  EXPECT_EQ(PlaceInQueue(waiting, in_line(WorkerKind::kDevice, "kernel", 5)), 5u);
  EXPECT_EQ(PlaceInQueue(waiting, in_line(WorkerKind::kDevice, "third kernel", 1)), 5u);
  EXPECT_EQ(PlaceInQueue(waiting, kFirstGpu), 5u) << "of no line";
}

TEST(WorkOrderTest, LooksAtOneKernelFollowEachOther) {
  const auto look = [](const std::string& line, int lane = 0) {
    WorkerCall call = kFirstGpu;
    call.line = line;
    call.lane = lane;
    return call;
  };
  const WorkerCall a = look("a"), b = look("b"), proof = look("b", 1);
  EXPECT_EQ(SameLineFirst({&a, &kGpuBuild, &b}, 0, {"b", 1}), 2u);
  EXPECT_EQ(SameLineFirst({&a, &b}, 0, {"c", 1}), 0u) << "none is there";
  EXPECT_EQ(SameLineFirst({&a, &b}, 0, {"b", kMostInARow}), 0u) << "the other waited long enough";
  EXPECT_EQ(SameLineFirst({&a, &proof}, 0, {"b", 1}), 0u) << "by another process";
  EXPECT_EQ(SameLineFirst({&kGpuBuild, &b}, 0, {"b", 1}), 0u) << "it is not about looks";
}

TEST(WorkOrderTest, OneCoreIsLeftToOthers) {
  for (const int cores : {4, 8, 16, 32}) {
    const int builds = LimitsFor(cores).gpu[static_cast<std::size_t>(WorkerKind::kBuild)];
    EXPECT_EQ(builds, cores - 1) << cores;
  }
  EXPECT_GE(LimitsFor(1).gpu[static_cast<std::size_t>(WorkerKind::kBuild)], 1);
  EXPECT_EQ(LimitsFor(64).host, WorkerLimits().host);
}

}  // namespace
}  // namespace cupilot::evaluate
