// The stages on a real kernel, by worker processes, with twins and candidates of the test's making.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/support/evaluator_rig.h"
#include "tests/support/forwarding_workers.h"

namespace cupilot::evaluate {
namespace {

using records::Json;
using ::testing::HasSubstr;

constexpr const char* kSource = R"(
__global__ void square(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 2 == 0) out[i] = in[i] * in[i] + 1.0f;
}
)";
constexpr int kCount = 4096;

Json MakeWorkload() {
  const Json normal = {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}};
  return {{"schema", "cupilot.workload/1"},
          {"kernel", "square"},
          {"cases",
           {{{"name", "all"},
             {"grid", {kCount / 64, 1, 1}},
             {"block", {64, 1, 1}},
             {"arguments",
              {{{"name", "in"}, {"type", "const float*"}, {"count", kCount}, {"fill", normal}},
               {{"name", "out"}, {"type", "float*"}, {"count", kCount}, {"access", "out"}},
               {{"name", "n"}, {"type", "int"}, {"value", kCount}}}}}}}};
}

// Passes everything on; what a source worker says of the twin goes through the test.
class TwinChanger final : public test::ForwardingWorkers {
 public:
  explicit TwinChanger(Workers& workers) : ForwardingWorkers(workers) {}
  std::function<void(protocol::TwinReply&)> change;

  void Call(WorkerCall call, base::Callback<Json> done) override {
    if (!change || call.op != "twin") return workers_.Call(std::move(call), std::move(done));
    workers_.Call(std::move(call), [this, done = std::move(done)](auto json) mutable {
      auto reply = protocol::ParseTwinReply(*json);
      change(*reply);
      done(protocol::ToJson(*reply));
    });
  }
};

class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() { rig_.PutInFront(changer_); }

  void SetUp() override {
    auto request = rig_.RequestFor("square.cu", kSource, "square");
    ASSERT_TRUE(request);
    request_ = std::move(*request);
    request_.max_seconds = 0.2;
    auto workload = records::ParseWorkload(MakeWorkload());
    ASSERT_TRUE(workload) << workload.error().message;
    request_.workload = *workload;
  }

  records::Evaluation Evaluate(const std::string& value) {
    EvaluateRequest request = request_;
    const auto variant =
        records::ParseVariant({{"schema", "cupilot.variant/1"},
                               {"kernel", "square"},
                               {"source",
                                "__global__ void other(const float* in, float* out, int n) {\n"
                                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "  if (i < n && i % 2 == 0) out[i] = " +
                                    value + ";\n}\n"},
                               {"entry", "other"}});
    EXPECT_TRUE(variant) << variant.error().message;
    request.variant = *variant;
    const auto evaluation = rig_.Evaluate(std::move(request));
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation.value_or(records::Evaluation{});
  }

  // What the record says of a fill.
  static std::string HowCompared(const records::Evaluation& evaluation,
                                 const std::string& fill = "fill workload") {
    for (const records::Check& check : evaluation.checks) {
      if (check.name == fill) return check.detail;
    }
    return "not at all: " + evaluation.reason + ": " + evaluation.detail;
  }

  // The same result up to the last bit, and the same result bit by bit.
  static constexpr const char* kRounded = "(1.0f / 3) * (3.0f * in[i] * in[i] + 3.0f)";
  static constexpr const char* kSame = "1.0f + in[i] * in[i]";

  void ExpectBitwise(const std::string& why) {
    const records::Evaluation same = Evaluate(kSame);
    EXPECT_THAT(HowCompared(same), HasSubstr("bit by bit: " + why));
    for (const records::CaseResult& result : same.cases) EXPECT_FALSE(result.error);
    const records::Evaluation rounded = Evaluate(kRounded);
    EXPECT_EQ(rounded.reason, "wrong_values") << rounded.detail;
    EXPECT_THAT(rounded.detail, HasSubstr("bitwise equality"));
  }

  test::EvaluatorRig rig_;
  TwinChanger changer_{rig_.workers()};
  EvaluateRequest request_;
};

TEST_F(VerifyTest, RoundingPassesByTheTwin) {
  const records::Evaluation rounded = Evaluate(kRounded);
  EXPECT_THAT(HowCompared(rounded), HasSubstr("double twin"));
  ASSERT_EQ(rounded.cases.size(), 1u);
  EXPECT_TRUE(rounded.cases[0].error && rounded.cases[0].original_error);
  EXPECT_GT(rounded.cases[0].floor_us, 0);
}

// The runs of a twin are most of a verification: whose bits are the original's has its errors.
TEST_F(VerifyTest, TheTwinIsAskedWhereBitsDiffer) {
  const records::Evaluation same = Evaluate(kSame);
  EXPECT_THAT(HowCompared(same), HasSubstr("double twin"));
  EXPECT_EQ(HowCompared(same, "fill wide"), "the original's bits");
  ASSERT_EQ(same.cases.size(), 1u);
  EXPECT_EQ(same.cases[0].error, same.cases[0].original_error);
  const records::Evaluation rounded = Evaluate(kRounded);
  EXPECT_THAT(HowCompared(rounded, "fill wide"), HasSubstr("double twin"));
  // What it said is kept, and is true of the first one, too.
  EXPECT_THAT(HowCompared(Evaluate(kSame), "fill wide"), HasSubstr("double twin"));
}

// Every other element is left alone: that says nothing about the errors of those that are written.
TEST_F(VerifyTest, ALossIsSeenBesideUnwrittenElements) {
  const records::Evaluation lossy = Evaluate("in[i] * in[i] + 1.001f");
  EXPECT_EQ(lossy.reason, "precision_loss") << lossy.detail;
}

TEST_F(VerifyTest, ATwinThatDoesNotBuildMeansBits) {
  changer_.change = [](protocol::TwinReply& twin) { twin.source = "this is no program"; };
  ExpectBitwise("there is no double twin");
}

TEST_F(VerifyTest, ATwinThatCannotBeRunMeansBits) {
  changer_.change = [](protocol::TwinReply& twin) { twin.entry = "missing"; };
  ExpectBitwise("the double twin cannot be run");
}

TEST_F(VerifyTest, ATwinThatCrashesMeansBits) {
  changer_.change = [](protocol::TwinReply& twin) {
    twin.source =
        "#include <cuda_runtime.h>\n"
        "__global__ void broken(const double* in, double* out, int n) { *(volatile int*)0 = n; }\n";
    twin.entry = "broken";
  };
  ExpectBitwise("the double twin cannot be run");
}

}  // namespace
}  // namespace cupilot::evaluate
