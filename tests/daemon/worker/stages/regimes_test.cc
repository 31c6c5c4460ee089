// Contents on which honest candidates take the same branches, and how far results may be off where
// a candidate had the original's bits before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::HasSubstr;

constexpr int kBodies = 96;

// What is near each body: the limit is met by hardly any two of random places. `order` and
// `beyond` are the candidate's.
std::string NearText(const std::string& name, const std::string& order, const std::string& beyond) {
  return "__global__ void " + name + R"((const float2* body, float* near, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    const int j = )" +
         order + R"(;
    const float x = body[i].x - body[j].x, y = body[i].y - body[j].y, d = x * x + y * y;
    if (d )" +
         beyond + R"( 4.0f) continue;
    sum += body[j].x / (d + 0.01f);
  }
  near[i] = sum;
}
)";
}

class NearTest : public ::testing::Test {
 protected:
  NearTest()
      : rig_("near_sums", NearText("near_sums", "k", ">"),
             {{"schema", "cupilot.workload/1"},
              {"kernel", "near_sums"},
              {"cases",
               {{{"name", "all"},
                 {"grid", {1, 1, 1}},
                 {"block", {kBodies, 1, 1}},
                 {"arguments",
                  {{{"name", "body"},
                    {"type", "const float2*"},
                    {"count", kBodies},
                    {"fill", {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}}}},
                   {{"name", "near"}, {"type", "float*"}, {"count", kBodies}, {"access", "out"}},
                   {{"name", "n"}, {"type", "int"}, {"value", kBodies}}}}}}}}) {}

  // With sums in another order, which have other bits.
  protocol::VerifyReply Verify(const std::string& beyond) {
    return rig_.Verify({{"schema", "cupilot.variant/1"},
                        {"kernel", "near_sums"},
                        {"source", NearText("other", "n - 1 - k", beyond)},
                        {"entry", "other"}},
                       {"sizes", "accesses", "places", "schedules", "fresh_process", "plants"});
  }

  StepsRig rig_;
};

TEST_F(NearTest, ALimitOfSumsIsMetOnEverySeed) {
  for (rig_.seed = 1; rig_.seed <= 8; ++rig_.seed) {
    const auto reply = Verify(">=");
    EXPECT_EQ(reply.reason, "wrong_values") << reply.detail << " (seed " << rig_.seed << ")";
    EXPECT_THAT(reply.detail, HasSubstr("few levels"));
  }
}

TEST_F(NearTest, AnotherOrderPassesOnEverySeed) {
  for (rig_.seed = 1; rig_.seed <= 8; ++rig_.seed) {
    const auto reply = Verify(">");
    EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail << " (seed " << rig_.seed
                              << ")";
  }
}

// A compiler fuses another product of the candidate, which shows where numbers are tiny, say.
TEST(ExactSoFarTest, ARoundingMoreIsInOrderAndMoreIsNot) {
  const auto text = [](const std::string& name, const std::string& factor) {
    return "__global__ void " + name + R"((const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = a[i] * b[i] + a[(i + 1) % n];
  if (a[i] != 0.0f && fabsf(a[i]) < 1e-37f) value *= )" +
           factor + ";\n  out[i] = value;\n}\n";
  };
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  StepsRig rig("mixed", text("mixed", "1.0f"),
               {{"schema", "cupilot.workload/1"},
                {"kernel", "mixed"},
                {"cases",
                 {{{"name", "all"},
                   {"grid", {4, 1, 1}},
                   {"block", {64, 1, 1}},
                   {"arguments",
                    {{{"name", "a"}, {"type", "const float*"}, {"count", 256}, {"fill", normal}},
                     {{"name", "b"}, {"type", "const float*"}, {"count", 256}, {"fill", normal}},
                     {{"name", "out"}, {"type", "float*"}, {"count", 256}, {"access", "out"}},
                     {{"name", "n"}, {"type", "int"}, {"value", 256}}}}}}}});
  const auto verify = [&](const std::string& factor) {
    return rig.Verify({{"schema", "cupilot.variant/1"},
                       {"kernel", "mixed"},
                       {"source", text("other", factor)},
                       {"entry", "other"}},
                      {"sizes", "accesses", "places", "schedules", "fresh_process", "plants"});
  };
  const auto rounded = verify("1.0000001f");
  EXPECT_TRUE(rounded.passed) << rounded.reason << ": " << rounded.detail;
  const auto off = verify("1.00001f");
  EXPECT_EQ(off.reason, "wrong_values") << off.detail;
}

}  // namespace
}  // namespace cupilot::evaluate
