// Values that are not finite, as results and beside zeros.
#include <gtest/gtest.h>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

// A small product of a matrix and a vector; a candidate differs in what it adds.
std::string ProductText(const std::string& name, const std::string& addition) {
  return "__global__ void " + name + R"((const float* a, const float* b, float* out, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) )" +
         addition + R"(
  out[row] = sum;
}
)";
}

class SpecialValuesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
    const Json workload = {
        {"schema", "cupilot.workload/1"},
        {"kernel", "product"},
        {"cases",
         {{{"name", "all"},
           {"grid", {1, 1, 1}},
           {"block", {64, 1, 1}},
           {"arguments",
            {{{"name", "a"}, {"type", "const float*"}, {"count", 64 * 16}, {"fill", normal}},
             {{"name", "b"}, {"type", "const float*"}, {"count", 16}, {"fill", normal}},
             {{"name", "out"}, {"type", "float*"}, {"count", 64}, {"access", "out"}},
             {{"name", "rows"}, {"type", "int"}, {"value", 64}}}}}}}};
    rig_ = new StepsRig("product", ProductText("product", kPlain), workload);
  }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }

  static Json Variant(const std::string& addition) {
    return {{"schema", "cupilot.variant/1"},
            {"kernel", "product"},
            {"source", ProductText("other", addition)},
            {"entry", "other"}};
  }

  static constexpr const char* kPlain = "sum += a[row * 16 + k] * b[k];";
  inline static StepsRig* rig_ = nullptr;
};

TEST_F(SpecialValuesTest, AZeroTimesWhatIsNoNumberIsNone) {
  rig_->ExpectCaughtBy("special_values", "wrong_values",
                       Variant("if (a[row * 16 + k] != 0.0f) sum += a[row * 16 + k] * b[k];"));
  rig_->ExpectCaughtBy("special_values", "wrong_values",
                       Variant("if (b[k] != 0.0f) sum += a[row * 16 + k] * b[k];"));
}

TEST_F(SpecialValuesTest, ACompensatedSumMayLoseIt) {
  const auto compensated = rig_->Verify({{"schema", "cupilot.variant/1"},
                                         {"kernel", "product"},
                                         {"source", R"(
__global__ void other(const float* a, const float* b, float* out, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f, lost = 0.0f;
  for (int k = 0; k < 16; ++k) {
    const float x = a[row * 16 + k] * b[k] - lost;
    const float next = sum + x;
    lost = (next - sum) - x;
    sum = next;
  }
  out[row] = sum;
}
)"},
                                         {"entry", "other"}});
  EXPECT_TRUE(compensated.passed) << compensated.reason << ": " << compensated.detail;
}

// Sums of what a mask selects, which is nearly all: whether values that are no numbers stand where
// it selects nothing is a matter of luck.
std::string MaskedText(const std::string& name, const std::string& addition) {
  return "__global__ void " + name + R"((const float* in, const int* mask, float* out, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = row * 16; k < row * 16 + 16; ++k) )" +
         addition + R"(
  out[row] = sum;
}
)";
}

TEST(SpecialValues, WhatAMaskLeavesOutMayBeNoNumberOnEverySeed) {
  const Json fill = {{"kind", "normal"}, {"mean", 5}, {"stddev", 1}};
  const Json selection = {{"kind", "integers"}, {"low", "0"}, {"high", "7"}};
  const Json workload = {
      {"schema", "cupilot.workload/1"},
      {"kernel", "masked"},
      {"cases",
       {{{"name", "all"},
         {"grid", {1, 1, 1}},
         {"block", {32, 1, 1}},
         {"arguments",
          {{{"name", "in"}, {"type", "const float*"}, {"count", 8 * 16}, {"fill", fill}},
           {{"name", "mask"}, {"type", "const int*"}, {"count", 8 * 16}, {"fill", selection}},
           {{"name", "out"}, {"type", "float*"}, {"count", 8}, {"access", "out"}},
           {{"name", "rows"}, {"type", "int"}, {"value", 8}}}}}}}};
  StepsRig rig("masked", MaskedText("masked", "if (mask[k] != 0) sum += in[k];"), workload);
  const auto verify = [&](const std::string& addition) {
    return rig.Verify({{"schema", "cupilot.variant/1"},
                       {"kernel", "masked"},
                       {"source", MaskedText("other", addition)},
                       {"entry", "other"}});
  };
  for (rig.seed = 1; rig.seed <= 6; ++rig.seed) {
    const auto product = verify("sum += in[k] * (mask[k] != 0 ? 1 : 0);");
    EXPECT_EQ(product.reason, "wrong_values") << "seed " << rig.seed;
    EXPECT_TRUE(product.steps.value("special_values", Json::object()).contains("caught"))
        << product.steps.dump();
  }
  const auto choice = verify("sum += mask[k] != 0 ? in[k] : 0.0f;");
  EXPECT_TRUE(choice.passed) << choice.reason << ": " << choice.detail;
}

// Sums of what is at least a limit, which the launch says, added in another order. A tolerance is
// no excuse for what the limit itself does.
TEST(SpecialValues, ADeclaredToleranceHoldsWhereALimitIsMet) {
  const auto text = [](const std::string& name, const char* compare) {
    return "__global__ void " + name + R"((const float* in, float* out, float limit, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) {
    const float x = in[row * 16 + )" +
           (name == "other" ? "15 - k" : "k") + "];\n    if (x " + compare +
           R"( limit) sum += x;
  }
  out[row] = sum;
}
)";
  };
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  StepsRig rig("limited", text("limited", ">="),
               {{"schema", "cupilot.workload/1"},
                {"kernel", "limited"},
                {"tolerance", {{"relative", 1e-4}}},
                {"cases",
                 {{{"name", "all"},
                   {"grid", {1, 1, 1}},
                   {"block", {64, 1, 1}},
                   {"arguments",
                    {{{"name", "in"}, {"type", "const float*"}, {"count", 1024}, {"fill", normal}},
                     {{"name", "out"}, {"type", "float*"}, {"count", 64}, {"access", "out"}},
                     {{"name", "limit"}, {"type", "float"}, {"value", 0.7}},
                     {{"name", "rows"}, {"type", "int"}, {"value", 64}}}}}}}});
  const auto variant = [&](const char* compare) -> Json {
    return {{"schema", "cupilot.variant/1"},
            {"kernel", "limited"},
            {"source", text("other", compare)},
            {"entry", "other"}};
  };
  rig.ExpectCaughtBy("special_values", "wrong_values", variant(">"), {"regimes"});
  rig.ExpectCaughtBy("regimes", "wrong_values", variant(">"), {"special_values"});
  const auto honest = rig.Verify(variant(">="));
  EXPECT_TRUE(honest.passed) << honest.reason << ": " << honest.detail;
}

// A number of the source, which random data never hit.
TEST(RegimesTest, ALimitThatIsMetExactly) {
  const auto text = [](const std::string& name, const char* compare) {
    return "__global__ void " + name + R"((const float* in, int* above, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) above[i] = in[i] )" +
           compare + " 0.3f ? 1 : 0;\n}\n";
  };
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  StepsRig rig("above", text("above", ">"),
               {{"schema", "cupilot.workload/1"},
                {"kernel", "above"},
                {"cases",
                 {{{"name", "all"},
                   {"grid", {4, 1, 1}},
                   {"block", {64, 1, 1}},
                   {"arguments",
                    {{{"name", "in"}, {"type", "const float*"}, {"count", 256}, {"fill", normal}},
                     {{"name", "above"}, {"type", "int*"}, {"count", 256}, {"access", "out"}},
                     {{"name", "n"}, {"type", "int"}, {"value", 256}}}}}}}});
  rig.ExpectCaughtBy("regimes", "wrong_values",
                     {{"schema", "cupilot.variant/1"},
                      {"kernel", "above"},
                      {"source", text("other", ">=")},
                      {"entry", "other"}});
}

}  // namespace
}  // namespace cupilot::evaluate
