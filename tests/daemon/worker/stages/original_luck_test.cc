// An original that is right by luck on some inputs is no measure of how far others may be off.
#include <gtest/gtest.h>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

// The difference of two distances from a point far away: what their roundings leave is thousands of
// times what rounding the inputs does, and there is one output, so one draw of it.
std::string DistancesText(const std::string& name, const std::string& index,
                          const std::string& read) {
  return "__global__ void " + name + R"((const float* from, const float* a, const float* b,
                                         float* out, int n) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  float to_a = 0.0f, to_b = 0.0f;
  for (int i = 0; i < n; ++i) {
    const int k = )" +
         index + R"(;
    const float x = )" +
         read + R"(;
    to_a += (x - a[k]) * (x - a[k]);
    to_b += (x - b[k]) * (x - b[k]);
  }
  out[0] = sqrtf(to_a) - sqrtf(to_b);
}
)";
}

class NearbyTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Json far = {{"kind", "normal"}, {"mean", 3000}, {"stddev", 300}};
    const Json near = {{"kind", "uniform"}, {"low", "0"}, {"high", "1"}};
    const Json workload = {
        {"schema", "cupilot.workload/1"},
        {"kernel", "distances"},
        {"cases",
         {{{"name", "all"},
           {"grid", {1, 1, 1}},
           {"block", {32, 1, 1}},
           {"arguments",
            {{{"name", "from"}, {"type", "const float*"}, {"count", 64}, {"fill", far}},
             {{"name", "a"}, {"type", "const float*"}, {"count", 64}, {"fill", near}},
             {{"name", "b"}, {"type", "const float*"}, {"count", 64}, {"fill", near}},
             {{"name", "out"}, {"type", "float*"}, {"count", 1}, {"access", "out"}},
             {{"name", "n"}, {"type", "int"}, {"value", 64}}}}}}}};
    rig_ = new StepsRig("distances", DistancesText("distances", "i", "from[k]"), workload);
  }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }

  static protocol::VerifyReply Verify(const std::string& index, const std::string& read) {
    return rig_->Verify({{"schema", "cupilot.variant/1"},
                         {"kernel", "distances"},
                         {"source", DistancesText("other", index, read)},
                         {"entry", "other"}},
                        {"sizes", "accesses", "places", "schedules", "fresh_process", "plants"});
  }

  inline static StepsRig* rig_ = nullptr;
};

TEST_F(NearbyTest, AnotherOrderPassesWhereTheOriginalIsLucky) {
  for (rig_->seed = 1; rig_->seed <= 6; ++rig_->seed) {
    const auto reply = Verify("n - 1 - i", "from[k]");
    EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  }
}

TEST_F(NearbyTest, LessPrecisionDoesNot) {
  for (rig_->seed = 1; rig_->seed <= 3; ++rig_->seed) {
    const auto reply = Verify("i", "__uint_as_float(__float_as_uint(from[k]) & 0xffffe000u)");
    EXPECT_FALSE(reply.passed);
    EXPECT_TRUE(reply.reason == "precision_loss" || reply.reason == "wrong_values")
        << reply.reason << ": " << reply.detail;
  }
}

}  // namespace
}  // namespace cupilot::evaluate
