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
  EXPECT_EQ(reply.shared_growth, 1);
  EXPECT_EQ(reply.significand_bits, 24);
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
  EXPECT_EQ(reply.shared_growth, 2);
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
  EXPECT_THAT(reply.source, HasSubstr("cupilot_twin_float2int_rd"));
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
  EXPECT_THAT(reason("asm(\"add.f32 %0, %1, %1;\" : \"=f\"(out[0]) : \"f\"(in[0]));"),
              HasSubstr("assembly"));
  EXPECT_THAT(reason("union { float f; int i; } u; u.f = in[0]; out[0] = u.i;"),
              HasSubstr("union"));
}

TEST_F(TwinTest, DeclinesKernelsWithoutFloats) {
  const auto reply = Make(
      "__global__ void k(const unsigned char* in, unsigned* out) { atomicAdd(&out[in[0]], 1u); }",
      {Pointer("in", "unsigned char"), Pointer("out", "unsigned int")});
  EXPECT_TRUE(reply.declined);
  EXPECT_THAT(reply.reason, HasSubstr("no floating-point arithmetic"));
}

TEST_F(TwinTest, KeepsAssemblyWithoutFloats) {
  const auto reply = Make(R"(
__global__ void k(const float* in, float* out) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  out[lane] = in[lane] * 2.0f;
})",
                          {Pointer("in", "float"), Pointer("out", "float")});
  EXPECT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.source, HasSubstr("laneid"));
}

records::Parameter Sized(records::Parameter parameter, std::int64_t bytes) {
  (parameter.kind == records::ParameterKind::kPointer ? parameter.element_bytes : parameter.bytes) =
      bytes;
  return parameter;
}

TEST_F(TwinTest, SaysWhereNumbersOfStructuresLie) {
  const auto reply =
      Make(R"(
struct Inner { char tag; float weight[2]; };
struct P { float x; int id; Inner inner; };
__global__ void k(const P* in, float* out, P one) { out[0] = in[0].x * one.inner.weight[1]; }
)",
           {Sized(Pointer("in", "P"), 20), Pointer("out", "float"), Sized(Scalar("one", "P"), 20)});
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.widened, ElementsAre(true, true, true));
  ASSERT_EQ(reply.structures.size(), 2u);
  EXPECT_EQ(reply.structures[0].parameter, 0);
  EXPECT_EQ(reply.structures[1].parameter, 2);
  EXPECT_EQ(reply.structures[0].bytes, 40);
  using Member = protocol::TwinMember;
  EXPECT_THAT(reply.structures[0].members,
              ElementsAre(Member{"float", 0, 4, 0, 8}, Member{"int", 4, 4, 8, 4},
                          Member{"char", 8, 1, 16, 1}, Member{"float", 12, 4, 24, 8},
                          Member{"float", 16, 4, 32, 8}));
}

TEST_F(TwinTest, DeclinesStructuresOfUnknownLayout) {
  const auto reason = [&](const std::string& structure) {
    const auto reply =
        Make(structure + " __global__ void k(const P* in, float* out) { out[0] = in[0].x; }",
             {Pointer("in", "P"), Pointer("out", "float")});
    EXPECT_TRUE(reply.declined) << structure;
    return reply.reason;
  };
  EXPECT_THAT(reason("struct B { float y; }; struct P : B { float x; };"), HasSubstr("layout"));
  EXPECT_THAT(reason("struct alignas(16) P { float x; };"), HasSubstr("layout"));
  EXPECT_THAT(reason("struct P { float x; const float* more; };"), HasSubstr("pointers to floats"));
}

TEST_F(TwinTest, LeavesStructuresWithoutFloatsAlone) {
  const auto reply = Make(R"(
struct Twice { __device__ float operator()(float x) const { return 2.0f * x; } };
__global__ void k(float* data, Twice f) { data[threadIdx.x] = f(data[threadIdx.x]); }
)",
                          {Pointer("data", "float"), Sized(Scalar("f", "Twice"), 1)});
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.widened, ElementsAre(true, false));
  EXPECT_THAT(reply.structures, IsEmpty());
}

// Half and bfloat16.

class SmallTwinTest : public TwinTest {
 protected:
  // A kernel of `in` and `out` of one type.
  protocol::TwinReply MakeOf(const std::string& type, const std::string& body,
                             const std::string& before = "") {
    return Make("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + before +
                    "\n__global__ void k(const " + type + "* in, " + type + "* out, int n) {" +
                    body + "}",
                {Pointer("in", type), Pointer("out", type), Scalar("n", "int")});
  }
};

TEST_F(SmallTwinTest, ComputesOperatorsAndFunctionsInDouble) {
  const auto reply = MakeOf("__half", R"(
  const __half x = in[threadIdx.x], half_of = __float2half(0.5f);
  __half sum = __hadd(x, __hmul(half_of, x));
  for (int i = 0; i < n; ++i) sum += hexp(x) / __hfma(x, x, sum);
  if (__hlt(x, sum) && x != sum) sum = -hsqrt(sum);
  out[threadIdx.x] = __float2half_rn(__half2float(sum) * 2.0f);)");
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.source, HasSubstr("const cupilot_twin_half* in"));
  EXPECT_THAT(reply.source, HasSubstr("cupilot_twin_hexp(x) / cupilot_twin_hfma(x, x, sum)"));
  EXPECT_EQ(reply.significand_bits, 11);
  EXPECT_THAT(reply.widened, ElementsAre(true, true, false));
  EXPECT_EQ(reply.device, "");
}

TEST_F(SmallTwinTest, ComputesPairsInDouble) {
  const auto reply = MakeOf("__half2", R"(
  extern __shared__ __half2 tile[];
  half2 x = in[threadIdx.x];
  tile[threadIdx.x] = __hfma2(x, __float2half2_rn(2.0f), __halves2half2(x.y, __low2half(x)));
  __syncthreads();
  x = __hmax2(tile[0], h2exp(x)) * x;
  const float2 wide = __half22float2(x);
  if (__hbgt2(x, tile[1])) x += __floats2half2_rn(wide.x, wide.y);
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x, 1);)");
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_EQ(reply.shared_growth, 4);
  EXPECT_EQ(reply.significand_bits, 11);
}

TEST_F(SmallTwinTest, KnowsBfloat16) {
  const auto reply = MakeOf("__nv_bfloat16", R"(
  __nv_bfloat162 pair = __halves2bfloat162(in[0], __float2bfloat16(1.5f));
  pair = __hadd2(pair, __bfloat162bfloat162(in[1]));
  out[0] = __low2bfloat16(pair) * htanh(__high2bfloat16(pair));)");
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_EQ(reply.significand_bits, 8);
}

TEST_F(SmallTwinTest, CountsInTheFormatThatAccumulates) {
  const std::string loop = "for (int i = 0; i < n; ++i) ";
  EXPECT_EQ(MakeOf("__half", "float s = 0.0f; " + loop +
                                 "s += __half2float(in[i]); out[0] = __float2half(s);")
                .significand_bits,
            24);
  EXPECT_EQ(MakeOf("__half", "__half s = in[0]; " + loop +
                                 "s = __hadd(s, in[i]); out[0] = __float2half(2.0f * (float)s);")
                .significand_bits,
            11);
  EXPECT_EQ(MakeOf("__half", "out[0] = __float2half(__half2float(in[0]) * __half2float(in[1]));")
                .significand_bits,
            24);
}

TEST_F(SmallTwinTest, KeepsOverloadsAndSpecialisationsApart) {
  const auto reply = MakeOf("__half", "out[0] = scaled<__half>(in[0]) * __half(scaled(2.0f));", R"(
__device__ float weight(float) { return 1.0f; }
__device__ __half weight(__half) { return __float2half(2.0f); }
template <class T> __device__ T scaled(T v) { return v * weight(v); }
template <> __device__ float scaled<float>(float v) { return v; })");
  EXPECT_FALSE(reply.declined) << reply.reason;
}

TEST_F(SmallTwinTest, AllowsVariablesThatAreNamedHalf) {
  const auto reply = Make(R"(
__global__ void k(const float* in, float* out, int n) {
  const int half = n / 2;
  out[0] = in[half] * 2.0f;
})",
                          {Pointer("in", "float"), Pointer("out", "float"), Scalar("n", "int")});
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.source, HasSubstr("const int half = n / 2;"));
}

TEST_F(SmallTwinTest, DeclinesBits) {
  EXPECT_THAT(MakeOf("__half", "out[0] = __float2half(__half_as_ushort(in[0]));").reason,
              HasSubstr("reads the bits"));
  EXPECT_THAT(MakeOf("__half", "out[0] = __ushort_as_half(n);").reason, HasSubstr("from bits"));
  EXPECT_FALSE(MakeOf("__half", "out[0] = in[0] * __ushort_as_half(0x3c00);").declined);
  EXPECT_THAT(MakeOf("__half", "float4 v = *(const float4*)in; out[0] = __float2half(v.x);").reason,
              HasSubstr("cast"));
  EXPECT_FALSE(MakeOf("__half", "half2 v = *(const half2*)in; out[0] = v.x * v.y;").declined);
  EXPECT_TRUE(MakeOf("__half", "__half_raw r; r.x = 1; out[0] = r;").declined);
}

// Double.

class DoubleTwinTest : public TwinTest {
 protected:
  protocol::TwinReply MakeOf(const std::string& body, const std::string& before = "") {
    return Make(before +
                    "\n__global__ void k(const double* in, double* out, int n, double scale) {" +
                    body + "}",
                {Pointer("in", "double"), Pointer("out", "double"), Scalar("n", "int"),
                 Scalar("scale", "double")});
  }
};

TEST_F(DoubleTwinTest, ComputesInLongDoubleOnTheHost) {
  const auto reply = MakeOf(R"(
  __shared__ double tile[32];
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += exp(-in[i]) * fmax(sqrt(in[i]), 0.1) + max(in[i], 1.0f);
  tile[threadIdx.x] = __dmul_rn(sum, __ddiv_rn(scale, 3.0)) + max(n, 3) + abs(n) + fabs(sum);
  const double2 pair = make_double2(tile[0], pow(tile[1], 2));
  atomicAdd(out, __shfl_down_sync(0xffffffffu, pair.x + pair.y, 1));
  out[1] = isnan(sum) ? std::abs(sum) : double(n) + floor(sum) + rsqrt(sum);)");
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_THAT(reply.source, HasSubstr("const cupilot_twin_long* in"));
  EXPECT_THAT(reply.source, HasSubstr("((cupilot_twin_long)0.1)"));
  EXPECT_EQ(reply.significand_bits, 53);
  EXPECT_EQ(reply.device, "host");
  EXPECT_THAT(reply.widened, ElementsAre(true, true, false, true));
}

TEST_F(DoubleTwinTest, LeavesDoublesOfFloatArithmeticAlone) {
  const auto reply = Make(R"(
__global__ void k(const float* in, float* out) {
  const double kThird = 1.0 / 3;
  out[0] = in[0] * 0.5 + in[1] * kThird;
})",
                          {Pointer("in", "float"), Pointer("out", "float")});
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_EQ(reply.significand_bits, 24);
  EXPECT_EQ(reply.device, "");
  EXPECT_THAT(reply.source, Not(HasSubstr("cupilot_twin_long")));
}

TEST_F(DoubleTwinTest, KeepsFloatAndDoubleApart) {
  const auto reply = Make(R"(
__device__ float weight(float v) { return v * 0.5f; }
__device__ double weight(double v) { return v * 0.25; }
__global__ void k(const float* in, float* out, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += weight(in[i]) * weight((double)in[i]);
  out[0] = (float)sum;
})",
                          {Pointer("in", "float"), Pointer("out", "float"), Scalar("n", "int")});
  ASSERT_FALSE(reply.declined) << reply.reason;
  EXPECT_EQ(reply.significand_bits, 53);
  EXPECT_THAT(reply.source, HasSubstr("double weight(double v)"));
  EXPECT_THAT(reply.source, HasSubstr("cupilot_twin_long weight(cupilot_twin_long v)"));
}

TEST_F(DoubleTwinTest, DeclinesBitsAndFunctionsWithoutALongForm) {
  EXPECT_THAT(MakeOf("out[0] = __double_as_longlong(in[0]) * scale;").reason, HasSubstr("bits"));
  EXPECT_THAT(MakeOf("long long b = *(const long long*)in; out[0] = b * scale;").reason,
              HasSubstr("cast"));
  const auto reply = MakeOf("out[0] = erfinv(in[0]) * scale;");
  EXPECT_TRUE(reply.declined);
  EXPECT_THAT(reply.reason, HasSubstr("erfinv"));
}

}  // namespace
}  // namespace cupilot::source
