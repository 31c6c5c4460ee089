#include "source/twin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

records::Parameter Pointer(const std::string& name, const std::string& element) {
  records::Parameter parameter;
  parameter.name = name;
  parameter.kind = records::ParameterKind::kPointer;
  parameter.element = element;
  parameter.canonical = element + " *";
  return parameter;
}

records::Parameter Scalar(const std::string& name, const std::string& type) {
  records::Parameter parameter;
  parameter.name = name;
  parameter.kind =
      type == "float" ? records::ParameterKind::kFloating : records::ParameterKind::kInteger;
  parameter.canonical = type;
  return parameter;
}

class TwinTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() { DropSourceTreeToolkit(); }

  protocol::TwinReply Make(const std::string& text, std::vector<records::Parameter> parameters,
                           std::vector<records::ClosureGlobal> globals = {}) {
    protocol::TwinRequest request;
    request.kernel.name = "k";
    request.kernel.closure_source = "#include <cuda_runtime.h>\n#include <cmath>\n" + text;
    request.kernel.parameters = std::move(parameters);
    request.kernel.globals = std::move(globals);
    auto reply = Twin(request);
    EXPECT_TRUE(reply.has_value()) << (reply ? "" : reply.error().message);
    return reply ? *reply : protocol::TwinReply{};
  }
};

TEST_F(TwinTest, WidensTypesLiteralsAndFunctions) {
  const auto reply = Make(R"(
__device__ float square(float v) { return v * v; }
__global__ void k(const float* in, float* out, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = expf(square(in[i]) * 0.1f) / fmaxf(sqrtf(scale), 1e-3f) + 2.0;
})",
                          {Pointer("in", "float"), Pointer("out", "float"), Scalar("n", "int"),
                           Scalar("scale", "float")});
  EXPECT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.source, HasSubstr("double square(double v)"));
  EXPECT_THAT(reply.source, HasSubstr("cupilot_twin_exp(square(in[i]) * ((double)0.1f))"));
  EXPECT_THAT(reply.source, HasSubstr("cupilot_twin_fmax(cupilot_twin_sqrt(scale)"));
  EXPECT_THAT(reply.widened, ElementsAre(true, true, false, true));
  EXPECT_EQ(reply.entry, "k");
  EXPECT_FALSE(reply.widened_shared);
}

TEST_F(TwinTest, WidensVectorsGlobalsAndSharedMemory) {
  records::ClosureGlobal weights;
  weights.symbol = "weights";
  weights.element = "float";
  const auto reply = Make(R"(
__constant__ float weights[9];
__global__ void k(const float4* in, float4* out) {
  extern __shared__ float tile[];
  float4 v = in[threadIdx.x];
  tile[threadIdx.x] = v.x * weights[0];
  __syncthreads();
  out[threadIdx.x] = make_float4(tile[0], v.y, v.z, v.w);
})",
                          {Pointer("in", "float4"), Pointer("out", "float4")}, {weights});
  EXPECT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.source, HasSubstr("make_double4(tile[0]"));
  EXPECT_THAT(reply.widened, ElementsAre(true, true));
  EXPECT_THAT(reply.widened_globals, ElementsAre("weights"));
  EXPECT_TRUE(reply.widened_shared);
}

TEST_F(TwinTest, WidensFastIntrinsicsConversionsAndAtomics) {
  const auto reply =
      Make(R"(
__global__ void k(const float* in, float* out, int* bins) {
  float x = std::fabs(in[threadIdx.x]);
  float y = __fdividef(__expf(x), __fmul_rn(x, 3.0f)) + rsqrtf(x) + std::sqrt(x);
  bins[0] = __float2int_rd(y);
  atomicAdd(out, y);
  atomicAdd(&bins[1], (int)y);
})",
           {Pointer("in", "float"), Pointer("out", "float"), Pointer("bins", "int")});
  EXPECT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.source, Not(HasSubstr("__expf(x)")));
  EXPECT_THAT(reply.source, HasSubstr("cupilot_twin_to_int_rd"));
  EXPECT_THAT(reply.widened, ElementsAre(true, true, false));
}

TEST_F(TwinTest, KeepsWordsThatOnlyLookLikeFloats) {
  const auto reply = Make(R"(
struct Box { float low; float high; };
__device__ float expf_like(float floating) { return floating; }
__global__ void k(const float* in, float* out) {
  Box box = {in[0], 1.5F};
  float largest = -INFINITY;
  out[0] = expf_like(box.low + box.high) + largest;  // a float stays in comments
})",
                          {Pointer("in", "float"), Pointer("out", "float")});
  EXPECT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.source, HasSubstr("expf_like(double floating)"));
  EXPECT_THAT(reply.source, HasSubstr("((double)1.5F)"));
}

TEST_F(TwinTest, DeclinesWhatHasNoDoubleForm) {
  const std::vector<records::Parameter> floats = {Pointer("in", "float"), Pointer("out", "float")};
  const auto reason = [&](const std::string& body) {
    const auto reply =
        Make("__global__ void k(const float* in, float* out) {" + body + "}", floats);
    EXPECT_TRUE(reply.declined) << body;
    return reply.reason;
  };
  EXPECT_THAT(reason("out[0] = __float_as_int(in[0]) > 3 ? 1.0f : 0.0f;"), HasSubstr("bits"));
  EXPECT_THAT(reason("int i = *(const int*)in; out[0] = i;"), HasSubstr("cast"));
  EXPECT_THAT(reason("out[0] = *reinterpret_cast<const unsigned*>(&in[1]);"), HasSubstr("cast"));
  EXPECT_THAT(reason("asm(\"nop\"); out[0] = in[0];"), HasSubstr("assembly"));
  EXPECT_THAT(reason("union { float f; int i; } u; u.f = in[0]; out[0] = u.i;"),
              HasSubstr("union"));
}

TEST_F(TwinTest, DeclinesKernelsWithoutFloats) {
  const auto reply = Make(
      "__global__ void k(const unsigned char* in, unsigned* out) { atomicAdd(&out[in[0]], 1u); }",
      {Pointer("in", "unsigned char"), Pointer("out", "unsigned int")});
  EXPECT_TRUE(reply.declined);
  EXPECT_THAT(reply.reason, HasSubstr("no float arithmetic"));
}

TEST_F(TwinTest, DeclinesStructuresInBuffers) {
  const auto reply = Make(
      "struct P { float x; int id; }; __global__ void k(const P* in, float* out) { out[0] = "
      "in[0].x; }",
      {Pointer("in", "P"), Pointer("out", "float")});
  EXPECT_TRUE(reply.declined);
  EXPECT_THAT(reply.reason, HasSubstr("structure"));
}

}  // namespace
}  // namespace cupilot::source
