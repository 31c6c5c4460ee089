// Each step of a verification catches what no other does: a minimal bad candidate for each, which
// passes where that step alone is left out.
#include <gtest/gtest.h>

#include <utility>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

// It leaves a mark in the second half of its shared memory.
constexpr const char* kTwiceSource = R"(
__global__ void twice(const float* in, float* out, int n) {
  extern __shared__ float row[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  row[threadIdx.x] = i < n ? in[i] : 0.0f;
  row[blockDim.x + threadIdx.x] = 55.0f;
  if (i < n) out[i] = 2.0f * row[threadIdx.x];
}
)";
constexpr int kTwiceBlock = 64;
// One block: shared memory is a thread's, and a single block always runs on the same one.
constexpr int kTwiceCount = kTwiceBlock;

Json MakeTwiceWorkload() {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "twice"},
          {"cases",
           {{{"name", "all"},
             {"grid", {1, 1, 1}},
             {"block", {kTwiceBlock, 1, 1}},
             {"shared_bytes", 2 * kTwiceBlock * 4},
             {"arguments",
              {{{"name", "in"}, {"type", "const float*"}, {"count", kTwiceCount}, {"fill", normal}},
               {{"name", "out"}, {"type", "float*"}, {"count", kTwiceCount}, {"access", "out"}},
               {{"name", "n"}, {"type", "int"}, {"value", kTwiceCount}}}}}}}};
}

class StepsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { rig_ = new StepsRig("twice", kTwiceSource, MakeTwiceWorkload()); }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }

  // One launch of `body`, which knows `i`.
  static Json Variant(const std::string& body) {
    return {{"schema", "cupilot.variant/1"},
            {"kernel", "twice"},
            {"source",
             "__global__ void other(const float* in, float* out, int n) {\n"
             "  extern __shared__ float row[];\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                 body + "\n}\n"},
            {"entry", "other"}};
  }

  // Two launches with a workspace `kept`: `body`, and after it `last`, by one thread.
  static Json VariantWithWorkspace(const std::string& body, const std::string& last) {
    const Json arguments = {"in", "out", "n", "kept"};
    const std::string parameters = "(const float* in, float* out, int n, float* kept) {\n";
    return {{"schema", "cupilot.variant/1"},
            {"kernel", "twice"},
            {"source", "__global__ void first" + parameters +
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + body +
                           "\n}\n__global__ void second" + parameters + last + "\n}\n"},
            {"workspace", {{{"name", "kept"}, {"bytes", "4 * n + 16"}, {"zeroed", false}}}},
            {"launches",
             {{{"entry", "first"}, {"arguments", arguments}},
              {{"entry", "second"},
               {"grid", {"1", "1", "1"}},
               {"block", {"1", "1", "1"}},
               {"arguments", arguments}}}}};
  }

  static protocol::VerifyReply Verify(const Json& variant) { return rig_->Verify(variant); }
  static void ExpectCaughtBy(const std::string& step, const std::string& reason,
                             const Json& variant, std::vector<std::string> left_out = {}) {
    rig_->ExpectCaughtBy(step, reason, variant, std::move(left_out));
  }

  inline static StepsRig* rig_ = nullptr;
};

TEST_F(StepsTest, WhatIsRightPassesAllOfThem) {
  const protocol::VerifyReply reply = Verify(Variant("if (i < n) out[i] = in[i] + in[i];"));
  EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  std::int64_t launches = 0;
  for (const auto& [name, cost] : reply.steps.items()) {
    EXPECT_GE(cost["seconds"].get<double>(), 0) << name;
    EXPECT_FALSE(cost.contains("caught")) << name;
    launches += cost["launches"].get<std::int64_t>();
  }
  EXPECT_GT(launches, 8);
  EXPECT_GT(reply.steps["fill workload"].value("original_us", 0.0), 0);
  for (const records::Check& check : reply.checks) {
    if (check.name == "plants") {
      EXPECT_THAT(check.detail, ::testing::HasSubstr("% of the pairs of input and output"));
    }
    // What was not done is not said to have been.
    if (check.name == "compute_sanitizer" || check.name == "exchanges") {
      EXPECT_THAT(check.detail, ::testing::ContainsRegex("not (looked at|asked): ")) << check.name;
    }
  }
}

// What an earlier try has shown is not asked again, and all else is.
TEST_F(StepsTest, WhatWasCutOffGoesOn) {
  const Json right = Variant("if (i < n) out[i] = 2.0f * in[i];");
  const Json plants = {{"launches", 7}, {"seconds", 0.5}};
  const auto passed = [](const Json& steps) {
    return Json{{"all",
                 {{"steps", steps},
                  {"notes", Json::array({Json::array({"plants", "seen before"})})},
                  {"errors", {0.0, 0.0}},
                  {"exact", true},
                  {"varies", false}}}};
  };
  const auto reply = rig_->GoOn(right, passed({{"plants", plants}}));
  EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  EXPECT_EQ(reply.steps["plants"], plants);
  EXPECT_GT(reply.steps["more_fills"].value("launches", 0), 0);
  EXPECT_GT(reply.steps["fill workload"].value("launches", 0), 0);
  std::vector<std::string> said;
  for (const records::Check& check : reply.checks) {
    if (check.name == "plants") said.push_back(check.detail);
  }
  EXPECT_THAT(said, ::testing::ElementsAre("seen before"));

  const Json wrong = Variant(
      "if (i < n) out[i] = in[0] > 990.0f && in[1] > 990.0f && in[2] > "
      "990.0f && in[3] > 990.0f && in[4] > 990.0f && in[5] > 990.0f ? 0.0f "
      ": 2.0f * in[i];");
  const auto caught = rig_->GoOn(wrong, passed({{"plants", plants}}));
  EXPECT_FALSE(caught.passed);
  EXPECT_TRUE(caught.steps["more_fills"].contains("caught")) << caught.steps;
  EXPECT_TRUE(rig_->GoOn(wrong, passed({{"more_fills", plants}})).passed);
  EXPECT_FALSE(rig_->GoOn(wrong, Json{{"all", {{"steps", {{"more_fills", plants}}}}}}).passed)
      << "what cannot be read has not passed";
}

// Large whole numbers are what the exact fill consists of.
TEST_F(StepsTest, OtherInputs) {
  ExpectCaughtBy("fills", "wrong_values",
                 Variant("bool whole = in[0] == truncf(in[0]) && fabsf(in[0]) > 4096.0f;\n"
                         "if (i < n) out[i] = whole ? in[i] : 2.0f * in[i];"),
                 {"regimes"});
}

TEST_F(StepsTest, FurtherInputs) {
  ExpectCaughtBy(
      "more_fills", "wrong_values",
      Variant("if (i < n) out[i] = in[0] > 990.0f && in[1] > 990.0f && in[2] > 990.0f && "
              "in[3] > 990.0f && in[4] > 990.0f && in[5] > 990.0f ? 0.0f : 2.0f * in[i];"));
}

// It recognises the inputs of the call before, and does nothing then. (More calls are a second one
// too, and planted values often change neither of the two numbers that it looks at.)
TEST_F(StepsTest, ASecondCall) {
  ExpectCaughtBy("second_call", "stateful",
                 VariantWithWorkspace("if (kept[0] == in[0] && kept[1] == in[n - 1]) return;\n"
                                      "if (i < n) out[i] = 2.0f * in[i];",
                                      "kept[0] = in[0]; kept[1] = in[n - 1];"),
                 {"more_calls", "plants", "changed_contents"});
}

TEST_F(StepsTest, ResultsOfOtherInputsInMemory) {
  ExpectCaughtBy("stale_outputs", "unwritten_output",
                 Variant("if (i >= n) return;\n"
                         "float before = fabsf(out[i]);\n"
                         "if (before > 0.1f && before < 10.0f) return;\n"
                         "out[i] = 2.0f * in[i];"));
}

TEST_F(StepsTest, OtherAlignment) {
  ExpectCaughtBy("alignment", "unwritten_output",
                 Variant("if (i < n && (unsigned long long)in % 128 == 0) out[i] = 2.0f * in[i];"));
}

TEST_F(StepsTest, AnotherOrderOfBuffers) {
  ExpectCaughtBy(
      "places", "unwritten_output",
      Variant("if (i < n && (unsigned long long)in < (unsigned long long)out) out[i] = 2.0f * "
              "in[i];"));
}

TEST_F(StepsTest, OtherPoison) {
  ExpectCaughtBy("poisons", "unwritten_output",
                 Variant("if (i < n && out[i] != 0.0f) out[i] = 2.0f * in[i];"));
}

// It looks whether some results are there already.
TEST_F(StepsTest, ResultsThatAreNearlyRight) {
  ExpectCaughtBy("nearly_right", "unwritten_output",
                 Variant("bool there = out[0] == 2.0f * in[0] && out[n - 1] == 2.0f * in[n - 1];\n"
                         "__syncthreads();\n"
                         "if (i < n && !there) out[i] = 2.0f * in[i];"));
}

// It counts calls with the same inputs, and does nothing after the fourth.
TEST_F(StepsTest, CallAfterCall) {
  ExpectCaughtBy("more_calls", "unwritten_output",
                 VariantWithWorkspace(
                     "if (kept[2] == 99.0f && kept[0] > 3.0f) return;\n"
                     "if (i < n) out[i] = 2.0f * in[i];",
                     "float sum = 0.0f;\n"
                     "for (int j = 0; j < n; ++j) sum += in[j];\n"
                     "bool same = kept[2] == 99.0f && kept[1] == sum;\n"
                     "kept[0] = same ? kept[0] + 1.0f : 1.0f; kept[1] = sum; kept[2] = 99.0f;"));
}

// A barrier is missing between what a thread writes and another reads.
TEST_F(StepsTest, AnotherOrderOfThreads) {
  ExpectCaughtBy(
      "schedules", "race",
      Variant("row[threadIdx.x] = i < n ? in[i] : 0.0f;\n"
              "int other = threadIdx.x / 2;\n"
              "float near = row[other];\n"
              "if (i < n) out[i] = near == in[other] || near != near ? 2.0f * in[i] : 0.0f;"));
}

TEST_F(StepsTest, ValuesThatAreNotFinite) {
  ExpectCaughtBy("special_values", "wrong_values",
                 Variant("if (i < n) out[i] = isfinite(in[i]) ? 2.0f * in[i] : 0.0f;"),
                 {"regimes"});
}

// The same bits on finite values, so that there is no arithmetic that could explain it.
TEST_F(StepsTest, AnInfinityThatIsNone) {
  ExpectCaughtBy("special_values", "wrong_values",
                 Variant("if (i < n) out[i] = 2.0f * in[i] - 0.0f * in[i];"), {"regimes"});
}

TEST_F(StepsTest, AnInfinityOfTheOtherSign) {
  ExpectCaughtBy("special_values", "wrong_values",
                 Variant("if (i < n) out[i] = isinf(in[i]) ? fabsf(in[i]) : 2.0f * in[i];"),
                 {"regimes"});
}

// It clears its output before it reads, and its guard says that this does not matter.
TEST_F(StepsTest, AnOutputOverItsInput) {
  Json variant = Variant(
      "if (i < n) out[i] = 0.0f;\n"
      "__syncthreads();\n"
      "if (i < n) out[i] = 2.0f * in[i];");
  EXPECT_TRUE(Verify(variant).passed) << "the published guard demands disjoint buffers";
  variant["guard"] = "disjoint(in, 4 * n, out, 4 * n) || n > 0";
  ExpectCaughtBy("aliases", "alias_unsafe", variant);
}

// Large results are kept by the address of the inputs.
TEST_F(StepsTest, OtherContentsAtTheSameAddress) {
  ExpectCaughtBy("changed_contents", "stateful",
                 VariantWithWorkspace("if (i >= n) return;\n"
                                      "float sum = 0.0f;\n"
                                      "for (int j = 0; j < n; ++j) sum += fabsf(in[j]);\n"
                                      "bool large = sum > 1000.0f && sum < 1e30f;\n"
                                      "if (*(const float**)kept == in && large) {\n"
                                      "  out[i] = kept[4 + i];\n"
                                      "} else {\n"
                                      "  out[i] = kept[4 + i] = 2.0f * in[i];\n"
                                      "}",
                                      "*(const float**)kept = in;"));
}

// Shared memory is not cleared: it tells what ran before. The inputs of the first call are small.
TEST_F(StepsTest, AProcessWhereNothingRanBefore) {
  ExpectCaughtBy("fresh_process", "stateful",
                 Variant("float before = row[blockDim.x + threadIdx.x];\n"
                         "row[blockDim.x + threadIdx.x] = 77.0f;\n"
                         "float most = 0.0f;\n"
                         "for (int j = 0; j < n; ++j) most = fmaxf(most, fabsf(in[j]));\n"
                         "bool known = most < 10.0f || before == 77.0f || before == 55.0f;\n"
                         "if (i < n) out[i] = (known ? 2.0f : 3.0f) * in[i];"));
}

TEST_F(StepsTest, TheOriginalRanBefore) {
  ExpectCaughtBy("around_original", "stateful",
                 Variant("float before = row[blockDim.x + threadIdx.x];\n"
                         "row[blockDim.x + threadIdx.x] = 77.0f;\n"
                         "if (i < n) out[i] = (before == 55.0f ? 3.0f : 2.0f) * in[i];"));
}

TEST_F(StepsTest, ScreeningIsEightLaunches) {
  const protocol::VerifyReply reply = Verify(Variant("if (i < n) out[i] = in[i] + in[i];"));
  std::int64_t launches = 0;
  for (const char* step :
       {"fill workload", "second_call", "fills", "stale_outputs", "alignment", "plant"}) {
    launches += reply.steps.value(step, Json::object()).value("launches", std::int64_t{0});
  }
  EXPECT_LE(launches, 8);
  EXPECT_GE(launches, 5);
}

}  // namespace
}  // namespace cupilot::evaluate
