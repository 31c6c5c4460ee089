// A workload of two sizes, and variants whose guards are for one of them: by worker processes.
#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSource = R"(
__global__ void square(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}
)";

Json CaseOf(const std::string& name, int count) {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  return {{"name", name},
          {"grid", {count / 64, 1, 1}},
          {"block", {64, 1, 1}},
          {"arguments",
           {{{"name", "in"}, {"type", "const float*"}, {"count", count}, {"fill", normal}},
            {{"name", "out"}, {"type", "float*"}, {"count", count}, {"access", "out"}},
            {{"name", "n"}, {"type", "int"}, {"value", count}}}}};
}

// Right from 1024 elements on only.
Json VariantWith(const std::string& guard) {
  Json variant = {{"schema", "cupilot.variant/1"},
                  {"kernel", "square"},
                  {"source",
                   "__global__ void other(const float* in, float* out, int n) {\n"
                   "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "  if (i < n) out[i] = n < 1024 ? 1.0f : in[i] * in[i];\n}\n"},
                  {"entry", "other"}};
  if (!guard.empty()) variant["guard"] = guard;
  return variant;
}

class AdmittedCasesTest : public ::testing::Test {
 protected:
  StepsRig rig_{"square",
                kSource,
                {{"schema", "cupilot.workload/1"},
                 {"kernel", "square"},
                 {"cases", {CaseOf("small", 128), CaseOf("large", 2048)}}}};
};

TEST_F(AdmittedCasesTest, OnlyTheCasesOfTheGuardAreRunAndPublished) {
  const protocol::VerifyReply everywhere = rig_.Verify(VariantWith(""));
  EXPECT_FALSE(everywhere.passed);
  EXPECT_EQ(everywhere.reason, "wrong_values") << everywhere.detail;

  const protocol::VerifyReply large = rig_.Verify(VariantWith("n >= 1024"));
  EXPECT_TRUE(large.passed) << large.reason << ": " << large.detail;
  EXPECT_THAT(large.guard, HasSubstr("n == 2048"));
  EXPECT_THAT(large.guard, HasSubstr("(n >= 1024) && "));
  EXPECT_THAT(large.guard, Not(HasSubstr("n == 128")));
  ASSERT_EQ(large.cases.size(), 2u);
  EXPECT_EQ(large.cases[0], records::LeftToOriginal("small"));
  EXPECT_EQ(large.cases[1].name, "large");
  EXPECT_TRUE(large.cases[1].admitted);
}

TEST_F(AdmittedCasesTest, AGuardForNoneOrByAddressesIsAnInvalidLaunch) {
  for (const char* guard : {"n >= 4096", "n >= 1024 && aligned(in, 1073741824)"}) {
    const protocol::VerifyReply reply = rig_.Verify(VariantWith(guard));
    EXPECT_FALSE(reply.passed) << guard;
    EXPECT_EQ(reply.reason, "invalid_launch") << guard << ": " << reply.detail;
  }
}

}  // namespace
}  // namespace cupilot::evaluate
