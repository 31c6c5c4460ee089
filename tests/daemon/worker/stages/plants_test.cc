// Planted decisive values on a selection of one value from many: the hardest case, since each run
// tests one position.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

// `peak` and a candidate differ in what they read.
std::string PeakText(const std::string& name, const std::string& condition) {
  return "__global__ void " + name + R"((const float* in, float* out, int n) {
  __shared__ float most[64];
  float mine = -3.0e38f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if ()" +
         condition + R"() mine = fmaxf(mine, in[i]);
  }
  most[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = most[0];
}
)";
}

Json PeakWorkload(const Json& fill, int count = 4096) {
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "peak"},
          {"cases",
           {{{"name", "all"},
             {"grid", {1, 1, 1}},
             {"block", {64, 1, 1}},
             {"arguments",
              {{{"name", "in"}, {"type", "const float*"}, {"count", count}, {"fill", fill}},
               {{"name", "out"}, {"type", "float*"}, {"count", 1}, {"access", "out"}},
               {{"name", "n"}, {"type", "int"}, {"value", count}}}}}}}};
}

Json PeakVariant(const std::string& condition) {
  return {{"schema", "cupilot.variant/1"},
          {"kernel", "peak"},
          {"source", PeakText("other", condition)},
          {"entry", "other"}};
}

class PlantsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    rig_ = new StepsRig("peak", PeakText("peak", "true"),
                        PeakWorkload({{"kind", "uniform"}, {"low", "0"}, {"high", "1"}}));
  }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }

  inline static StepsRig* rig_ = nullptr;
};

// One input in a hundred.
TEST_F(PlantsTest, ShowWhatIsIgnored) {
  rig_->ExpectCaughtBy("plants", "ignores_input", PeakVariant("i % 100 != 11"), {"plant"});
}

// What neither the workload nor a fill holds: the largest values of those are smaller or greater.
// (The many are of the same kind as the one.)
TEST(PlantTest, ShowsValuesThatAreIgnored) {
  StepsRig rig("peak", PeakText("peak", "true"),
               PeakWorkload({{"kind", "normal"}, {"mean", 0}, {"stddev", 1}}));
  rig.ExpectCaughtBy("plant", "ignores_input", PeakVariant("in[i] < 6.0f || in[i] > 900.0f"),
                     {"plants", "regimes"});
}

// An input of many values and one output: single positions, each launch with another one. (Whole
// runs have as many plants that do not move a maximum as ones that do, so they alone never show
// enough.) The original takes a small part of what a series may take, on a busy machine too.
TEST(PlantSeriesTest, ShowOneInAHundredOfALargeInput) {
  StepsRig rig("peak", PeakText("peak", "true"),
               PeakWorkload({{"kind", "normal"}, {"mean", 0}, {"stddev", 1}}, 1 << 16));
  rig.ExpectCaughtBy("plants", "ignores_input", PeakVariant("i % 100 != 12"),
                     {"plant", "more_fills", "special_values"});
  const protocol::VerifyReply honest = rig.Verify(PeakVariant("i < n"));
  EXPECT_TRUE(honest.passed) << honest.reason << ": " << honest.detail;
  const auto plants =
      std::find_if(honest.checks.begin(), honest.checks.end(),
                   [](const records::Check& check) { return check.name == "plants"; });
  ASSERT_NE(plants, honest.checks.end());
  EXPECT_THAT(plants->detail, ::testing::HasSubstr("moved an output"));
  EXPECT_THAT(plants->detail, ::testing::Not(::testing::HasSubstr("fewer than")));
}

// A sum in another order has other bits in nearly each launch, and the place of the greatest number
// beside it is exact.
TEST(PlantSeriesTest, WhatIsExactIsAskedBesideWhatRoundsOtherwise) {
  const auto text = [](const std::string& name, const std::string& at, const std::string& counts) {
    return "__global__ void " + name + R"((const int* in, float* sum, int* peak, int n) {
  float total = 0.0f;
  int best = 0;
  for (int k = 0; k < n; ++k) total += 0.1f * in[)" +
           at + R"(];
  for (int k = 0; k < n; ++k)
    if (()" +
           counts + R"() && in[k] > in[best]) best = k;
  sum[0] = total;
  peak[0] = best;
}
)";
  };
  const Json integers = {{"kind", "integers"}, {"low", "0"}, {"high", "100000"}};
  StepsRig rig("peak", text("peak", "k", "true"),
               {{"schema", "cupilot.workload/1"},
                {"kernel", "peak"},
                {"cases",
                 {{{"name", "all"},
                   {"grid", {1, 1, 1}},
                   {"block", {1, 1, 1}},
                   {"arguments",
                    {{{"name", "in"}, {"type", "const int*"}, {"count", 4096}, {"fill", integers}},
                     {{"name", "sum"}, {"type", "float*"}, {"count", 1}, {"access", "out"}},
                     {{"name", "peak"}, {"type", "int*"}, {"count", 1}, {"access", "out"}},
                     {{"name", "n"}, {"type", "int"}, {"value", 4096}}}}}}}});
  const auto variant = [&](const std::string& counts) -> Json {
    return {{"schema", "cupilot.variant/1"},
            {"kernel", "peak"},
            {"source", text("other", "n - 1 - k", counts)},
            {"entry", "other"}};
  };
  for (rig.seed = 1; rig.seed <= 3; ++rig.seed) {
    const auto ignores = rig.Verify(variant("k % 100 != 11"),
                                    {"plant", "fills", "more_fills", "special_values", "regimes"});
    EXPECT_FALSE(ignores.passed) << "seed " << rig.seed;
    EXPECT_TRUE(ignores.steps.value("plants", Json::object()).contains("caught"))
        << ignores.steps.dump();
  }
  rig.seed = 1;
  const auto honest = rig.Verify(variant("true"));
  EXPECT_TRUE(honest.passed) << honest.reason << ": " << honest.detail;
}

}  // namespace
}  // namespace cupilot::evaluate
