// Twins of kernels whose numbers are no plain floats, run: honest changes of the arithmetic pass by
// the error rule, arithmetic of less precision does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/daemon/worker/stages/steps_rig.h"

namespace cupilot::evaluate {
namespace {

using records::Json;

constexpr int kTwinCount = 256;

Json Normal() { return {{"kind", "normal"}, {"mean", 0}, {"stddev", 1}}; }
Json In(const std::string& name, const std::string& type) {
  return {{"name", name}, {"type", type}, {"count", kTwinCount}, {"fill", Normal()}};
}
Json Out(const std::string& name, const std::string& type, int count = kTwinCount) {
  return {{"name", name}, {"type", type}, {"count", count}, {"access", "out"}};
}

// A kernel `k`, and candidates of it with the same parameters.
class TwinsTest : public ::testing::Test {
 protected:
  void Use(const std::string& definitions, const std::string& parameters, const std::string& body,
           const Json& arguments, int shared_bytes = 0) {
    parameters_ = parameters;
    const Json workload = {{"schema", "cupilot.workload/1"},
                           {"kernel", "k"},
                           {"cases",
                            {{{"name", "all"},
                              {"grid", {kTwinCount / 64, 1, 1}},
                              {"block", {64, 1, 1}},
                              {"shared_bytes", shared_bytes},
                              {"arguments", arguments}}}}};
    rig_.emplace("k", definitions + "__global__ void k(" + parameters + ") {" + body + "}\n",
                 workload);
  }

  // Without what takes long and is not about numbers.
  protocol::VerifyReply Verify(const std::string& body,
                               const std::vector<std::string>& includes = {}) {
    Json variant = {{"schema", "cupilot.variant/1"},
                    {"kernel", "k"},
                    {"source", "__global__ void other(" + parameters_ + ") {" + body + "}\n"},
                    {"entry", "other"}};
    if (!includes.empty()) variant["includes"] = includes;
    return rig_->Verify(variant, {"sizes", "scalars", "plants", "accesses", "places",
                                  "changed_contents", "schedules", "fresh_process"});
  }

  // By the rule: each result has an error in units.
  double ExpectPasses(const std::string& body) {
    const protocol::VerifyReply reply = Verify(body);
    EXPECT_TRUE(reply.passed) << body << ": " << reply.reason << ": " << reply.detail;
    if (reply.cases.empty()) return -1;
    EXPECT_TRUE(reply.cases[0].error) << body << ": there is no twin";
    return reply.cases[0].error.value_or(-1);
  }
  void ExpectRefused(const std::string& body, const std::vector<std::string>& includes = {}) {
    const protocol::VerifyReply reply = Verify(body, includes);
    EXPECT_FALSE(reply.passed) << body;
    EXPECT_TRUE(reply.reason == "precision_loss" || reply.reason == "wrong_values")
        << reply.reason << ": " << reply.detail;
  }

 private:
  std::string parameters_;
  std::optional<StepsRig> rig_;
};

constexpr const char* kIndex = "const int i = blockIdx.x * blockDim.x + threadIdx.x;";

// Errors are fractions of a unit, which double could not tell: 2^-53 of a result is all there is.
TEST_F(TwinsTest, DoubleIsMeasuredInUnitsOfItsOwn) {
  Use("", "const double* in, double* out", std::string(kIndex) + "out[i] = in[i] * in[i] * in[i];",
      {In("in", "const double*"), Out("out", "double*")});
  const double error = ExpectPasses(std::string(kIndex) + "out[i] = in[i] * (in[i] * in[i]);");
  EXPECT_GT(error, 0.05);
  EXPECT_LT(error, 0.5);
  ExpectRefused(std::string(kIndex) + "out[i] = in[i] * in[i] * (float)in[i];");
}

TEST_F(TwinsTest, DoublesInSharedMemoryShufflesAndAtomics) {
  Use("", "const double* in, double* out", std::string(kIndex) + R"(
  extern __shared__ double tile[];
  tile[threadIdx.x] = exp(-fabs(in[i])) + 0.1;
  __syncthreads();
  double sum = 0.0;
  for (int j = 0; j < 64; ++j) sum += tile[j];
  out[i] = sum / fmax(tile[threadIdx.x], 0.5);)",
      {In("in", "const double*"), Out("out", "double*")}, 64 * 8);
  ExpectPasses(std::string(kIndex) + R"(
  extern __shared__ double tile[];
  const double mine = exp(-fabs(in[i])) + 0.1;
  double sum = mine;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) tile[threadIdx.x / 32] = sum;
  __syncthreads();
  out[i] = (tile[0] + tile[1]) / max(mine, 0.5);)");
  ExpectRefused(std::string(kIndex) + R"(
  extern __shared__ double tile[];
  tile[threadIdx.x] = expf(-fabsf((float)in[i])) + 0.1;
  __syncthreads();
  double sum = 0.0;
  for (int j = 0; j < 64; ++j) sum += tile[j];
  out[i] = sum / fmax(tile[threadIdx.x], 0.5);)");
}

TEST_F(TwinsTest, NumbersOfStructuresAreWidened) {
  Use("struct Line { float slope; int steps; double offset; };\n"
      "struct Sample { char kind; float value[2]; };\n",
      "const Sample* in, float* out, Line line", std::string(kIndex) + R"(
  float sum = 0.0f;
  for (int j = 0; j < line.steps; ++j) {
    sum += in[(i + j) % 256].value[j % 2] * line.slope + (float)line.offset;
  }
  out[i] = sum;)",
      // 1.5f, 24, 0.25; structures take bits, of which zeros are the only ones that are all finite.
      {{{"name", "in"},
        {"type", "const Sample*"},
        {"count", kTwinCount},
        {"fill", {{"kind", "constant"}, {"value", 0}}}},
       Out("out", "float*"),
       {{"name", "line"}, {"type", "Line"}, {"bytes", "AADAPxgAAAAAAAAAAADQPw=="}}});
  ExpectPasses(std::string(kIndex) + R"(
  float even = 0.0f, odd = 0.0f;
  for (int j = 0; j < line.steps; j += 2) {
    even += in[(i + j) % 256].value[0] * line.slope + (float)line.offset;
    odd += in[(i + j + 1) % 256].value[1] * line.slope + (float)line.offset;
  }
  out[i] = even + odd;)");
  ExpectRefused(std::string(kIndex) + "out[i] = 6.001f;");
}

TEST_F(TwinsTest, HalfArithmeticIsNoBfloat16Arithmetic) {
  Use("#include <cuda_fp16.h>\n", "const __half* in, __half* out",
      std::string(kIndex) + "out[i] = in[i] * in[i] + __float2half(0.3f) * in[i];",
      {In("in", "const __half*"), Out("out", "__half*")});
  ExpectPasses(std::string(kIndex) + "out[i] = __hfma(in[i], in[i], __float2half(0.3f) * in[i]);");
  ExpectRefused(std::string(kIndex) +
                    "const __nv_bfloat16 v = __float2bfloat16(__half2float(in[i]));"
                    "out[i] = __float2half(__bfloat162float(v * v + __float2bfloat16(0.3f) * v));",
                {"cuda_bf16.h"});
}

}  // namespace
}  // namespace cupilot::evaluate
