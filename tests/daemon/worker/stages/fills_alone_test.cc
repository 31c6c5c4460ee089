// Each fill shows what no other does, nor anything else that is asked: a candidate that is wrong on
// its inputs alone, and passes where that fill is left out.
#include <gtest/gtest.h>

#include <utility>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

constexpr int kFilled = 64;

// The workload's own inputs are between 5 and 6, as those of no fill.
constexpr const char* kDoubledSource = R"(
__global__ void doubled(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
)";

Json DoubledWorkload() {
  const Json own = {{"kind", "uniform"}, {"low", "5"}, {"high", "6"}};
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "doubled"},
          {"cases",
           {{{"name", "all"},
             {"grid", {1, 1, 1}},
             {"block", {kFilled, 1, 1}},
             {"arguments",
              {{{"name", "in"}, {"type", "const float*"}, {"count", kFilled}, {"fill", own}},
               {{"name", "out"}, {"type", "float*"}, {"count", kFilled}, {"access", "out"}},
               {{"name", "n"}, {"type", "int"}, {"value", kFilled}}}}}}}};
}

// Wrong where the condition holds, which knows of all inputs: the `least` and the `most`, how many
// are zero, whole numbers, and greater than ten (`large`) in magnitude, and their `sum`.
Json WrongIf(const std::string& condition) {
  return {{"schema", "cupilot.variant/1"},
          {"kernel", "doubled"},
          {"source",
           "__global__ void other(const float* in, float* out, int n) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  float least = in[0], most = in[0], sum = 0.0f;\n"
           "  int zeros = 0, whole = 0, large = 0;\n"
           "  for (int j = 0; j < n; ++j) {\n"
           "    least = fminf(least, in[j]);\n"
           "    most = fmaxf(most, in[j]);\n"
           "    sum += in[j];\n"
           "    zeros += in[j] == 0.0f;\n"
           "    whole += in[j] == truncf(in[j]);\n"
           "    large += fabsf(in[j]) > 10.0f;\n"
           "  }\n"
           "  if (i < n) out[i] = (" +
               condition + ") ? in[i] + 1.0e6f : 2.0f * in[i];\n}\n"},
          {"entry", "other"}};
}

class FillsAloneTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    rig_ = new StepsRig("doubled", kDoubledSource, DoubledWorkload());
  }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }

  // `others`: steps that would see it on the same inputs.
  static void ExpectShownBy(const std::string& fill, const std::string& step,
                            const std::string& condition, std::vector<std::string> others = {}) {
    const Json variant = WrongIf(condition);
    const protocol::VerifyReply caught = rig_->Verify(variant);
    EXPECT_EQ(caught.reason, "wrong_values") << caught.detail;
    EXPECT_THAT(caught.detail, ::testing::HasSubstr("(fill " + fill + ", "));
    EXPECT_EQ(caught.steps.value(step, Json::object()).value("caught", ""), "wrong_values")
        << caught.steps.dump();
    others.push_back("fill " + fill);
    const protocol::VerifyReply passed = rig_->Verify(variant, std::move(others));
    EXPECT_TRUE(passed.passed) << passed.reason << ": " << passed.detail;
  }

  inline static StepsRig* rig_ = nullptr;
};

// Steps about what lies in memory and what ran before ask by these inputs as well, where the
// workload's own say too little: wrong values are put down to that then.
TEST_F(FillsAloneTest, Wide) {
  ExpectShownBy("wide", "fills", "large > 8 && whole < 8 && least < 0.0f && most < 4096.0f",
                {"stale_outputs", "changed_contents", "fresh_process", "around_original"});
}
// Most steps ask by the workload's own inputs again, so that there is always one that catches what
// is wrong on those alone; but all of them take it for something else, calls or places, than it is.
TEST_F(FillsAloneTest, TheWorkloadsOwn) {
  const Json variant = WrongIf("least >= 5.0f && most < 6.0f");
  const struct {
    std::vector<std::string> left_out;
    std::string step, reason;
  } expected[] = {{{}, "fill workload", "wrong_values"},
                  {{"fill workload"}, "second_call", "nondeterministic"},
                  {{"fill workload", "second_call"}, "alignment", "stateful"},
                  {{"fill workload", "second_call", "alignment"}, "plant", "wrong_values"}};
  for (const auto& [left_out, step, reason] : expected) {
    const protocol::VerifyReply reply = rig_->Verify(variant, left_out);
    EXPECT_EQ(reply.reason, reason) << step << ": " << reply.detail;
    EXPECT_EQ(reply.steps.value(step, Json::object()).value("caught", ""), "wrong_values")
        << reply.steps.dump();
  }
}

TEST_F(FillsAloneTest, FourOfARow) {
  ExpectShownBy("sparse4", "fills", "zeros == n - 4 && sum != 0.0f");
}
TEST_F(FillsAloneTest, ExactIntegers) {
  ExpectShownBy("exact", "fills", "whole == n && large == n && most < 32768.0f");
}
TEST_F(FillsAloneTest, Uniform) {
  ExpectShownBy("uniform", "more_fills", "least > 0.0f && most > 0.5f && most < 1.0f");
}
TEST_F(FillsAloneTest, Normal) {
  ExpectShownBy("normal", "more_fills", "zeros == 0 && least < 0.0f && most > 0.0f && most < 5.0f");
}
TEST_F(FillsAloneTest, FarFromZero) {
  ExpectShownBy("offset", "more_fills", "least > 900.0f && most < 1100.0f");
}
TEST_F(FillsAloneTest, OneOfARow) { ExpectShownBy("sparse1", "more_fills", "zeros == n - 1"); }
TEST_F(FillsAloneTest, Negative) {
  ExpectShownBy("negative", "more_fills", "least > -3.5f && most < -0.5f");
}
TEST_F(FillsAloneTest, Opposites) {
  ExpectShownBy("pairs", "more_fills", "zeros == n - 4 && sum == 0.0f");
}

}  // namespace
}  // namespace cupilot::evaluate
