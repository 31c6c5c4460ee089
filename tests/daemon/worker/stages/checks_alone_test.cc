// Each check of memory after a run catches what no other does: a minimal bad candidate for each,
// which passes where that check alone is left out. And what two of them see: which is first, and
// which is there where that one is not.
#include <gtest/gtest.h>

#include <utility>

#include "tests/daemon/worker/stages/steps_rig.h"
#include "tests/daemon/worker/stages/watched_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

constexpr int kHalf = 64;  // elements that are read and written, of twice as many

// The second halves of both buffers are nobody's business.
constexpr const char* kHalvesSource = R"(
__global__ void halves(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
)";

Json HalvesWorkload(const std::string& order) {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "halves"},
          {"cases",
           {{{"name", "all"},
             {"grid", {1, 1, 1}},
             {"block", {kHalf, 1, 1}},
             {"arguments",
              {{{"name", "in"}, {"type", "const float*"}, {"count", 2 * kHalf}, {"fill", normal}},
               {{"name", "out"},
                {"type", "float*"},
                {"count", 2 * kHalf},
                {"access", "out"},
                {"order", order}},
               {{"name", "n"}, {"type", "int"}, {"value", kHalf}}}}}}}};
}

// One launch of `body`, which knows `i`; `whole`: whether its inputs are large whole numbers, as
// the fill "exact" draws them and nothing else does.
Json Halves(const std::string& body) {
  return {{"schema", "cupilot.variant/1"},
          {"kernel", "halves"},
          {"source",
           "__global__ void other(const float* in, float* out, int n) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  bool whole = in[0] == truncf(in[0]) && fabsf(in[0]) > 4096.0f &&\n"
           "               fabsf(in[0]) < 32768.0f;\n" +
               body + "\n}\n"},
          {"entry", "other"}};
}
const std::string kRight = "if (i < n) out[i] = 2.0f * in[i];\n";

class ChecksAloneTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    rig_ = new StepsRig("halves", kHalvesSource, HalvesWorkload("fixed"));
  }
  static void TearDownTestSuite() { delete std::exchange(rig_, nullptr); }

  // What was found, by which check or step, in which step.
  struct Caught {
    std::string reason, check, step;
    friend bool operator==(const Caught&, const Caught&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Caught& caught) {
      return out << caught.reason << " by " << caught.check << " in step " << caught.step;
    }
  };
  static Caught Verify(StepsRig& rig, const Json& variant, std::vector<std::string> left_out = {}) {
    const protocol::VerifyReply reply = rig.Verify(variant, std::move(left_out));
    EXPECT_EQ(reply.passed, reply.reason.empty());
    Caught caught{reply.reason, "", ""};
    for (const auto& [name, cost] : reply.steps.items()) {
      if (!cost.contains("caught")) continue;
      caught.step = name;
      caught.check = cost["caught"];
    }
    return caught;
  }
  static Caught Verify(const Json& variant, std::vector<std::string> left_out = {}) {
    return Verify(*rig_, variant, std::move(left_out));
  }

  static void ExpectCaughtBy(const std::string& check, const std::string& reason,
                             const Json& variant) {
    EXPECT_EQ(Verify(variant), (Caught{reason, check, "fills"}));
    EXPECT_EQ(Verify(variant, {check}), kNothing);
  }

  static inline const Caught kNothing{};
  inline static StepsRig* rig_ = nullptr;
};

TEST_F(ChecksAloneTest, WhatIsRightPasses) { EXPECT_EQ(Verify(Halves(kRight)), kNothing); }

// On inputs that watched runs have not.
TEST_F(ChecksAloneTest, AByteOutsideOfTheBuffers) {
  EXPECT_EQ(Verify(Halves(kRight + "if (i == 0) out[2 * n] = 1.0f;")),
            (Caught{"out_of_bounds", "out_of_bounds", "fill workload"}));
  ExpectCaughtBy("out_of_bounds", "out_of_bounds",
                 Halves(kRight + "if (whole && i == 0) out[2 * n] = 1.0f;"));
}

// No result follows what is changed, and it happens on inputs that watched runs have not.
TEST_F(ChecksAloneTest, AChangedInput) {
  EXPECT_EQ(Verify(Halves(kRight + "if (i < n) const_cast<float*>(in)[n + i] = 1.0f;")),
            (Caught{"modified_input", "modified_input", "fill workload"}));
  ExpectCaughtBy("modified_input", "modified_input",
                 Halves(kRight + "if (whole && i < n) const_cast<float*>(in)[n + i] = 1.0f;"));
}

// Where the order is free, values are compared as a set of what the original writes.
TEST_F(ChecksAloneTest, ElementsThatTheOriginalLeavesAlone) {
  StepsRig free("halves", kHalvesSource, HalvesWorkload("free"));
  const Json variant = Halves(kRight + "if (i < n) out[n + i] = 1.0f;");
  EXPECT_EQ(Verify(free, Halves(kRight)), kNothing);
  EXPECT_EQ(Verify(free, variant), (Caught{"wrong_values", "unwritten_output", "fill workload"}));
  EXPECT_EQ(Verify(free, variant, {"unwritten_output"}), kNothing);
}

// In a fixed order the check of values sees all that this one does, and more dearly: it needs the
// twin. It gives the same reason. Steps about numbers that fills do not have compare by
// themselves.
TEST_F(ChecksAloneTest, ElementsThatAreNotWritten) {
  const Json variant = Halves("if (i < n && i != 5) out[i] = 2.0f * in[i];");
  EXPECT_EQ(Verify(variant), (Caught{"unwritten_output", "unwritten_output", "fill workload"}));
  EXPECT_EQ(Verify(variant, {"unwritten_output"}),
            (Caught{"unwritten_output", "wrong_values", "fill workload"}));
  EXPECT_EQ(Verify(variant, {"unwritten_output", "wrong_values"}),
            (Caught{"wrong_values", "wrong_values", "special_values"}));
  EXPECT_EQ(Verify(variant, {"unwritten_output", "wrong_values", "special_values", "regimes"}),
            kNothing);
}

TEST_F(ChecksAloneTest, AWrongValue) {
  ExpectCaughtBy("wrong_values", "wrong_values",
                 Halves("if (i < n) out[i] = whole ? in[i] : 2.0f * in[i];"));
}

TEST_F(ChecksAloneTest, AWrongValueWhateverTheInputs) {
  const Json variant = Halves("if (i < n) out[i] = in[i];");
  EXPECT_EQ(Verify(variant), (Caught{"wrong_values", "wrong_values", "fill workload"}));
  EXPECT_EQ(Verify(variant, {"wrong_values"}),
            (Caught{"wrong_values", "wrong_values", "special_values"}));
  EXPECT_EQ(Verify(variant, {"wrong_values", "special_values", "regimes"}), kNothing);
}

// Finalists have watched runs as well, which see what happens whatever the inputs are: that is
// theirs where the check is left out that sees it first.
class ChecksAndWatchedRunsTest : public ::testing::Test {
 protected:
  static void ExpectAlsoSeen(const std::string& check, const std::string& body) {
    const std::string sum =
        "  __shared__ int part[64];\n  part[t] = i < n ? in[i] : 0;\n  __syncthreads();\n" + kAddUp;
    WatchedRig without(check, kSums, 4);
    without.finalists().others = true;
    const records::Evaluation watched = without.Evaluate(Variant(sum + body));
    EXPECT_EQ(watched.reason, check) << watched.detail;
    EXPECT_EQ(watched.metrics["verify"]["accesses"].value("caught", ""), "accesses")
        << watched.metrics.dump();
  }
};

TEST_F(ChecksAndWatchedRunsTest, AByteOutsideOfTheBuffers) {
  ExpectAlsoSeen("out_of_bounds", "  if (i == 0) out[gridDim.x] = 1;");
}

// By the thread that alone reads it.
TEST_F(ChecksAndWatchedRunsTest, AChangedInput) {
  ExpectAlsoSeen("modified_input", "  if (i < n) const_cast<int*>(in)[i] = 0;");
}

}  // namespace
}  // namespace cupilot::evaluate
