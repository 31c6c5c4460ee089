// Other sizes than the workload's, where it says them as expressions.
#include <gtest/gtest.h>

#include <string>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

constexpr const char* kShiftSource = R"(
__global__ void shift(const float* in, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[(i + 1) % n];
}
)";

class SizesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
    const Json workload = {
        {"schema", "cupilot.workload/1"},
        {"kernel", "shift"},
        {"cases",
         {{{"name", "all"},
           {"grid", {"ceil_div(n, 64)", 1, 1}},
           {"block", {64, 1, 1}},
           {"arguments",
            {{{"name", "in"}, {"type", "const float*"}, {"count", "n"}, {"fill", normal}},
             {{"name", "out"}, {"type", "float*"}, {"count", "n"}, {"access", "out"}},
             {{"name", "factor"}, {"type", "float"}, {"value", 1.5}},
             {{"name", "n"}, {"type", "int"}, {"value", 256}}}}}}}};
    rig_ = new StepsRig("shift", kShiftSource, workload);
  }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }

  static Json Variant(const std::string& body, const std::string& guard = "") {
    Json variant = {{"schema", "cupilot.variant/1"},
                    {"kernel", "shift"},
                    {"source",
                     "__global__ void other(const float* in, float* out, float factor, int n) {\n"
                     "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                         body + "\n}\n"},
                    {"entry", "other"}};
    if (!guard.empty()) variant["guard"] = guard;
    return variant;
  }

  inline static StepsRig* rig_ = nullptr;
};

// It has no boundary: sizes that are no multiple of the block are written beyond their end.
constexpr const char* kNoBoundary = "out[i] = factor * in[i + 1 < n ? i + 1 : 0];";

TEST_F(SizesTest, ABoundaryThatIsMissing) {
  const protocol::VerifyReply caught = rig_->Verify(Variant(kNoBoundary));
  EXPECT_EQ(caught.reason, "out_of_bounds") << caught.detail;
  EXPECT_TRUE(caught.steps["sizes"].contains("caught"));
  EXPECT_THAT(caught.detail, ::testing::HasSubstr("n = 1"));
  EXPECT_TRUE(rig_->Verify(Variant(kNoBoundary), {"sizes"}).passed);
}

TEST_F(SizesTest, AreAskedInsideTheGuardOnly) {
  const protocol::VerifyReply reply = rig_->Verify(Variant(kNoBoundary, "n % 64 == 0"));
  EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  EXPECT_THAT(reply.guard, ::testing::HasSubstr("n == 256")) << "what was not verified is left out";
}

TEST_F(SizesTest, TheWorkloadsSizeAsAConstant) {
  rig_->ExpectCaughtBy(
      "sizes", "wrong_values",
      Variant("if (i < n) out[i] = factor * in[(i + 1) % 256 < n ? (i + 1) % 256 : 1 % n];"));
}

TEST_F(SizesTest, TheWorkloadsFactorAsAConstant) {
  rig_->ExpectCaughtBy("scalars", "wrong_values",
                       Variant("if (i < n) out[i] = 1.5f * in[i + 1 < n ? i + 1 : 0];"));
}

TEST_F(SizesTest, WhatIsRightSaysWhichOnesWereAsked) {
  const protocol::VerifyReply reply =
      rig_->Verify(Variant("if (i < n) out[i] = factor * in[i + 1 < n ? i + 1 : 0];"));
  EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  std::string said;
  for (const records::Check& check : reply.checks) {
    if (check.name == "sizes") said = check.detail;
  }
  EXPECT_THAT(said, ::testing::HasSubstr("n = 255"));
  EXPECT_THAT(said, ::testing::HasSubstr("n = 257"));
}

// What has nothing to do with the size, of a case of 64 MB: at 500,000 elements where the original
// is quick, at fewer where it takes longer.
TEST(LargeCaseTest, IsAskedAtASmallerSizeToo) {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  StepsRig rig("twice",
               "__global__ void twice(const float* in, float* out, int n) {\n"
               "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "  if (i < n) out[i] = 2.0f * in[i];\n}\n",
               {{"schema", "cupilot.workload/1"},
                {"kernel", "twice"},
                {"cases",
                 {{{"name", "all"},
                   {"grid", {"ceil_div(n, 256)", 1, 1}},
                   {"block", {256, 1, 1}},
                   {"arguments",
                    {{{"name", "in"}, {"type", "const float*"}, {"count", "n"}, {"fill", normal}},
                     {{"name", "out"}, {"type", "float*"}, {"count", "n"}, {"access", "out"}},
                     {{"name", "n"}, {"type", "int"}, {"value", 8000000}}}}}}}});
  const auto reply = rig.Verify(
      {{"schema", "cupilot.variant/1"},
       {"kernel", "twice"},
       {"source",
        "__global__ void other(const float* in, float* out, int n) {\n"
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) out[i] = fmaxf(2.0f * in[i], -3e38f);\n}\n"},
       {"entry", "other"}},
      {"fills", "more_fills", "more_calls", "schedules", "plants", "accesses", "changed_contents"});
  EXPECT_EQ(reply.reason, "wrong_values") << reply.detail;
  EXPECT_TRUE(reply.steps["special_values"].contains("caught"));
  const std::string before = "case 'all, n = ";
  const std::size_t at = reply.detail.find(before);
  ASSERT_NE(at, std::string::npos) << reply.detail;
  EXPECT_LE(std::stoi(reply.detail.substr(at + before.size())), 500000) << reply.detail;
}

}  // namespace
}  // namespace cupilot::evaluate
