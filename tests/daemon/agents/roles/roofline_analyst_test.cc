#include "agents/roles/roofline_analyst.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/daemon/agents/roles/examples.h"

namespace cupilot::agents {
namespace {

using records::Json;
using testing::HasSubstr;
using testing::IsEmpty;

records::CaseResult Measured(const std::string& name, double original, double variant,
                             double floor) {
  records::CaseResult result;
  result.name = name;
  result.original_us = original;
  result.variant_us = variant;
  result.speedup = original / variant;
  result.floor_us = floor;
  return result;
}

records::Evaluation Evaluated(const Json& side, const char* which = "variant") {
  records::Evaluation evaluation;
  evaluation.device.arch = "sm_90";
  evaluation.cases = {Measured("wide", 40, 20, 5), Measured("odd", 10, 5, 4)};
  evaluation.metrics["case wide"]["roofline"] = {{"necessary", {{"read", 800}, {"written", 200}}},
                                                 {which, side}};
  return evaluation;
}

Diagnosis DiagnosisOf(const records::Evaluation& evaluation, Side side = Side::kVariant,
                      const LaunchShape& shape = {}) {
  const auto diagnosis = Diagnose(evaluation, ExampleWorkload(), side, shape);
  EXPECT_TRUE(diagnosis);
  return diagnosis.value_or(Diagnosis{});
}

constexpr const char* kWarps = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kLong =
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";

TEST(Rounded, TwoDigits) {
  EXPECT_EQ(Rounded(0), "0");
  EXPECT_EQ(Rounded(41.234), "41");
  EXPECT_EQ(Rounded(1.4499), "1.4");
  EXPECT_EQ(Rounded(0.034567), "0.035");
  EXPECT_EQ(Rounded(9.96), "10");
  EXPECT_EQ(Rounded(0.996), "1.0");
  EXPECT_EQ(Rounded(99.6), "100");
  EXPECT_EQ(Rounded(4312.7), "4300");
  EXPECT_EQ(Rounded(-2.54e6), "-2500000");
  EXPECT_EQ(Rounded(std::nan("")), "unknown");
  EXPECT_EQ(Rounded(INFINITY), "unknown");
}

TEST(Analyst, NamesTheCeilingAndItsMetrics) {
  const Diagnosis diagnosis =
      DiagnosisOf(Evaluated({{"bound", "dram"},
                             {"share", 0.8123},
                             {"counters",
                              {{"dram__bytes_read.sum", 1500.0},
                               {"dram__bytes_write.sum", 500.0},
                               {"lts__t_sector_hit_rate.pct", 12.34},
                               {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 81.2},
                               {"sm__inst_issued.avg.pct_of_peak_sustained_active", 50.0}}}}));
  EXPECT_EQ(diagnosis.bound, "dram");
  EXPECT_EQ(diagnosis.case_name, "wide");
  EXPECT_EQ(diagnosis.evidence, "counters");
  EXPECT_DOUBLE_EQ(diagnosis.ceiling_share, 0.8123);
  EXPECT_DOUBLE_EQ(diagnosis.floor_share, 0.25);
  ASSERT_EQ(diagnosis.metrics.size(), 3u);
  EXPECT_EQ(diagnosis.metrics[0].value, "2.0");
  EXPECT_THAT(diagnosis.metrics[0].hypothesis, HasSubstr("more than once"));
  EXPECT_EQ(diagnosis.metrics[1].name, "L2 hit rate");
  EXPECT_EQ(diagnosis.metrics[1].value, "12 %");
  EXPECT_EQ(diagnosis.metrics[2].value, "81 %");
}

TEST(Analyst, EveryCeilingIsABottleneck) {
  for (const auto& [ceiling, bottleneck] :
       std::initializer_list<std::pair<const char*, const char*>>{{"dram", "dram"},
                                                                  {"l2", "l2"},
                                                                  {"l1", "l2"},
                                                                  {"shared", "shared"},
                                                                  {"fp32", "fp32"},
                                                                  {"fp64", "fp32"},
                                                                  {"integer", "fp32"},
                                                                  {"special", "fp32"},
                                                                  {"issue", "fp32"},
                                                                  {"load_store", "l2"},
                                                                  {"tensor", "tensor"},
                                                                  {"launch", "launch"}}) {
    EXPECT_EQ(DiagnosisOf(Evaluated({{"bound", ceiling}, {"share", 0.7}})).bound, bottleneck);
  }
}

TEST(Analyst, BelowEachCeilingItIsLatencyOrOccupancy) {
  const auto bound = [](double warps) {
    return DiagnosisOf(Evaluated(
        {{"bound", "latency"}, {"share", 0.3}, {"counters", {{kWarps, warps}, {kLong, 7.77}}}}));
  };
  const Diagnosis latency = bound(80);
  EXPECT_EQ(latency.bound, "latency");
  EXPECT_EQ(latency.ceiling_share, 0);
  EXPECT_EQ(latency.metrics[0].name, "warps that wait for global memory");
  EXPECT_EQ(latency.metrics[0].value, "7.8 per issue");
  const Diagnosis occupancy = bound(20);
  EXPECT_EQ(occupancy.bound, "occupancy");
  EXPECT_EQ(occupancy.metrics[0].value, "20 %");
}

TEST(Analyst, SaysTheSideThatIsAskedFor) {
  records::Evaluation evaluation = Evaluated({{"bound", "fp32"}, {"share", 0.9}}, "original");
  EXPECT_EQ(DiagnosisOf(evaluation, Side::kOriginal).bound, "fp32");
  EXPECT_DOUBLE_EQ(DiagnosisOf(evaluation, Side::kOriginal).time_us, 40);
  EXPECT_EQ(DiagnosisOf(evaluation, Side::kVariant).bound, "latency");
}

TEST(Analyst, TheCaseWithMostTimeToGain) {
  records::Evaluation evaluation = Evaluated({{"bound", "dram"}, {"share", 0.7}});
  EXPECT_EQ(DiagnosisOf(evaluation).case_name, "wide");
  evaluation.cases[0].floor_us = 19.9;  // nothing left there
  evaluation.cases[1].floor_us = 1;
  EXPECT_EQ(DiagnosisOf(evaluation).case_name, "odd");
  evaluation.cases.clear();
  EXPECT_FALSE(Diagnose(evaluation, ExampleWorkload(), Side::kVariant));
  evaluation.cases = {records::LeftToOriginal("wide")};
  EXPECT_FALSE(Diagnose(evaluation, ExampleWorkload(), Side::kVariant));
}

TEST(Analyst, WithoutCountersItSaysWhatItCan) {
  records::Evaluation evaluation = Evaluated(
      {{"bound", ""}, {"share", 0.3}, {"instructions", {{"k", {{"global", 10}, {"fp32", 30}}}}}});
  evaluation.resources = {128, 1024, 0, {}};
  LaunchShape shape;
  shape.block_threads = 256;
  shape.max_threads_per_sm = 2048;
  shape.shared_bytes_per_sm = 228 << 10;
  // 65536 / (128 * 256) = 2 blocks of 8.
  const Diagnosis diagnosis = DiagnosisOf(evaluation, Side::kVariant, shape);
  EXPECT_EQ(diagnosis.evidence, "instructions");
  EXPECT_EQ(diagnosis.bound, "occupancy");
  EXPECT_EQ(diagnosis.metrics[0].value, "128");
  EXPECT_EQ(diagnosis.metrics.size(), 3u);
  evaluation.resources.registers = 32;
  const Diagnosis roomy = DiagnosisOf(evaluation, Side::kVariant, shape);
  EXPECT_EQ(roomy.bound, "latency");
  EXPECT_EQ(roomy.metrics[0].value, "25 %");
}

TEST(Analyst, OnAHostDeviceTheFloorSpeaks) {
  records::Evaluation evaluation;
  evaluation.device.arch = "host-x86-64-v3";
  evaluation.cases = {Measured("wide", 40, 20, 5)};
  const Diagnosis far = DiagnosisOf(evaluation);
  EXPECT_EQ(far.bound, "latency");
  EXPECT_EQ(far.evidence, "times");
  EXPECT_EQ(far.metrics[0].value, "25 %");
  evaluation.cases[0].floor_us = 14;
  const Diagnosis near = DiagnosisOf(evaluation);
  EXPECT_EQ(near.bound, "dram");
  EXPECT_DOUBLE_EQ(near.floor_share, 0.7);
  evaluation.cases[0].floor_us = 0;
  EXPECT_THAT(DiagnosisOf(evaluation).metrics, IsEmpty());
}

TEST(Analyst, SpillsAreNamed) {
  records::Evaluation evaluation = Evaluated({{"bound", ""}});
  evaluation.resources = {255, 0, 96, {}};
  const Diagnosis diagnosis = DiagnosisOf(evaluation);
  EXPECT_EQ(diagnosis.metrics[1].name, "registers spilled to memory");
  EXPECT_EQ(diagnosis.metrics[1].value, "96 bytes a thread");
}

TEST(Peaks, AreThoseOfTheProfile) {
  records::Evaluation evaluation = Evaluated({});
  EXPECT_EQ(PeaksOf(evaluation).dram_gb_per_s, 0);
  evaluation.metrics["case wide"]["roofline"]["peaks"] = {
      {"copy", 4.3e6}, {"launch_us", 2.5}, {"arithmetic", {{"fp32", 6.1e7}, {"fp64", "?"}}}};
  const DevicePeaks peaks = PeaksOf(evaluation);
  EXPECT_DOUBLE_EQ(peaks.dram_gb_per_s, 4300);
  EXPECT_DOUBLE_EQ(peaks.fp32_tflops, 61);
  EXPECT_EQ(peaks.fp64_tflops, 0);
  EXPECT_DOUBLE_EQ(peaks.launch_us, 2.5);
}

TEST(Analyst, RecordsOfOtherShapesAreNoTrouble) {
  for (const Json& odd : {Json(3), Json("x"), Json::array({1}), Json(nullptr),
                          Json{{"bound", 3}, {"share", "x"}, {"counters", {{kWarps, "x"}}}},
                          Json{{"bound", "warp drive"}, {"instructions", {{"k", 3}}}}}) {
    const Diagnosis diagnosis = DiagnosisOf(Evaluated(odd));
    EXPECT_EQ(diagnosis.bound, "latency") << odd;
  }
}

}  // namespace
}  // namespace cupilot::agents
