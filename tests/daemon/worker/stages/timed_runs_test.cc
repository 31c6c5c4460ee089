// What a candidate leaves among timed launches is looked at, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/support/evaluator_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

constexpr int kPeakCount = 8192;
constexpr const char* kPeakBody = R"(
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float most = in[i];
  for (int k = 1; k < 300; ++k) most = fmaxf(most, in[(i + k) % n]);
  out[i] = most;
)";

// `skip`: what ends a call early, where `calls` says how often it was called on these inputs.
Json CountingVariant(const std::string& skip) {
  const Json arguments = {"in", "out", "n", "kept"};
  const std::string parameters = "(const float* in, float* out, int n, float* kept) {\n";
  return {{"schema", "cupilot.variant/1"},
          {"kernel", "peak"},
          {"source", "__global__ void work" + parameters +
                         "  float calls = kept[1] == in[0] ? kept[0] : 0.0f;\n  if (" + skip +
                         ") return;\n" + kPeakBody + "}\n__global__ void count" + parameters +
                         "  kept[0] = kept[1] == in[0] ? kept[0] + 1.0f : 1.0f;\n"
                         "  kept[1] = in[0];\n}\n"},
          {"workspace", {{{"name", "kept"}, {"bytes", "16"}, {"zeroed", false}}}},
          {"launches",
           {{{"entry", "work"}, {"arguments", arguments}},
            {{"entry", "count"},
             {"grid", {"1", "1", "1"}},
             {"block", {"1", "1", "1"}},
             {"arguments", arguments}}}}};
}

records::Evaluation EvaluatePeak(const Json& json) {
  test::EvaluatorRig rig;
  auto request = rig.RequestFor(
      "peak.cu",
      std::string("__global__ void peak(const float* in, float* out, int n) {") + kPeakBody + "}\n",
      "peak");
  EXPECT_TRUE(request);
  if (!request) return {};
  request->max_seconds = 0.1;
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  const auto workload = records::ParseWorkload(
      {{"schema", "cupilot.workload/1"},
       {"kernel", "peak"},
       {"cases",
        {{{"name", "all"},
          {"grid", {kPeakCount / 128, 1, 1}},
          {"block", {128, 1, 1}},
          {"arguments",
           {{{"name", "in"}, {"type", "const float*"}, {"count", kPeakCount}, {"fill", normal}},
            {{"name", "out"}, {"type", "float*"}, {"count", kPeakCount}, {"access", "out"}},
            {{"name", "n"}, {"type", "int"}, {"value", kPeakCount}}}}}}}});
  EXPECT_TRUE(workload) << workload.error().message;
  request->workload = *workload;
  const auto variant = records::ParseVariant(json);
  EXPECT_TRUE(variant) << variant.error().message;
  request->variant = *variant;
  const auto evaluation = rig.Evaluate(std::move(*request));
  EXPECT_TRUE(evaluation) << evaluation.error().message;
  return evaluation.value_or(records::Evaluation{});
}

TEST(TimedRuns, AResultThatIsLeftOutWhenItWasAskedForOftenIsStateful) {
  const records::Evaluation evaluation = EvaluatePeak(CountingVariant("calls >= 3.0f"));
  EXPECT_EQ(evaluation.reason, "stateful") << evaluation.detail;
  EXPECT_THAT(evaluation.detail, ::testing::HasSubstr("after timed runs"));
}

TEST(TimedRuns, WhatCountsAndWorksAllTheSameIsMeasured) {
  const records::Evaluation evaluation = EvaluatePeak(CountingVariant("calls < 0.0f"));
  EXPECT_NE(evaluation.reason, "stateful") << evaluation.detail;
  EXPECT_EQ(evaluation.cases.size(), 1u) << evaluation.reason << ": " << evaluation.detail;
}

// The maximum of all so often.
std::string Often(const std::string& name, const std::string& times) {
  return "__global__ void " + name +
         "(const float* in, float* out, int n, int times) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
         "  float most = in[i];\n  for (int t = 0; t < " +
         times +
         "; ++t) {\n    for (int k = 1; k < 100; ++k) most = fmaxf(most, in[(i + k + t) % n]);\n"
         "  }\n  out[i] = most;\n}\n";
}

records::Variant Once(const std::string& times) {
  // The window moves by one each time: so many elements behind the first.
  const auto variant = records::ParseVariant(
      {{"schema", "cupilot.variant/1"},
       {"kernel", "often"},
       {"entry", "entry"},
       {"source",
        "__global__ void entry(const float* in, float* out, int n, int times) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        "  float most = in[i];\n  for (int again = 0; again < " +
            times +
            "; ++again) {\n    for (int k = 1; k < 99 + times; ++k) most = fmaxf(most, "
            "in[(i + k) % n]);\n  }\n  out[i] = most;\n}\n"},
       {"guard", "times >= 1"}});
  EXPECT_TRUE(variant) << variant.error().message;
  return variant.value_or(records::Variant{});
}

// Whatever each was measured to be against the original: which of the two is faster one run says.
TEST(TimedRuns, TheProvenOneAndWhatMayTakeItsPlaceAreTimedInOneRun) {
  constexpr int kCount = 1024;
  test::EvaluatorRig rig;
  auto request = rig.RequestFor("often.cu", Often("often", "times"), "often");
  ASSERT_TRUE(request);
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  const auto workload = records::ParseWorkload(
      {{"schema", "cupilot.workload/1"},
       {"kernel", "often"},
       {"cases",
        {{{"name", "all"},
          {"grid", {kCount / 128, 1, 1}},
          {"block", {128, 1, 1}},
          {"arguments",
           {{{"name", "in"}, {"type", "const float*"}, {"count", kCount}, {"fill", normal}},
            {{"name", "out"}, {"type", "float*"}, {"count", kCount}, {"access", "out"}},
            {{"name", "n"}, {"type", "int"}, {"value", kCount}},
            {{"name", "times"}, {"type", "int"}, {"value", 10}}}}}}}});
  ASSERT_TRUE(workload) << workload.error().message;
  request->workload = *workload;
  request->variant = Once("1");
  request->max_seconds = 0.1;
  request->rival = [](double speedup) {
    EXPECT_GT(speedup, 1);
    records::Variant rival = Once("8");
    rival.id = "rival";
    return std::optional(rival);
  };
  const auto evaluation = rig.Evaluate(std::move(*request));
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  ASSERT_TRUE(evaluation->accepted) << evaluation->reason << ": " << evaluation->detail;
  const Json against = evaluation->metrics.value("against", Json::object());
  EXPECT_EQ(against.value("variant", ""), "rival") << evaluation->metrics;
  // It does the same eight times.
  EXPECT_GT(against.value("speedup", 0.0), 1);
}

}  // namespace
}  // namespace cupilot::evaluate
