#include "source/whitelist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class WhitelistTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() { DropSourceTreeToolkit(); }

  protocol::CheckVariantReply Check(const std::string& source, const std::string& entry = "v") {
    protocol::CheckVariantRequest request;
    request.kernel.name = "image::k";
    request.kernel.base_name = "k";
    request.kernel.namespaces = {"image"};
    request.kernel.closure_source = R"(#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
namespace image {
__device__ float helper(float x) { return x * 2.0f; }
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = helper(in[i]) + __logf(in[i]);
}
}
)";
    request.variant.kernel = "image::k";
    request.variant.source = source;
    request.variant.entry = entry;
    request.variant.id = records::VariantId(request.variant);
    auto reply = CheckVariant(request);
    EXPECT_TRUE(reply.has_value()) << (reply ? "" : reply.error().message);
    return reply ? *reply : protocol::CheckVariantReply{};
  }

  void Refuses(const std::string& source, const std::string& reason, const std::string& part = "") {
    const auto reply = Check(source);
    EXPECT_FALSE(reply.passed) << source;
    EXPECT_EQ(reply.reason, reason) << source << "\n" << reply.detail;
    EXPECT_THAT(reply.detail, HasSubstr(part)) << source;
  }
};

constexpr const char* kPlain =
    "__global__ void v(const float* in, float* out, int n) { if (n > 0) out[0] = in[0]; }\n";

TEST_F(WhitelistTest, PassesDeviceCode) {
  const auto reply = Check(R"(
constexpr int kTile = 16;
__constant__ float table[2] = {1.0f, 2.0f};
using Real = float;
enum Mode { kFirst, kSecond };
struct Sum {
  Real value;
  __device__ void Add(Real x) { value += x; }
  static constexpr int kWidth = 4;
};
template <class T>
__device__ __forceinline__ T twice(T x) { return x + x; }
static_assert(kTile == 16, "");
__global__ void __launch_bounds__(256) v(const float* __restrict__ in, float* out, int n) {
  extern __shared__ float tile[];
  __shared__ float still[kTile];
#pragma unroll (kTile - 12)
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Sum sum{};
    sum.Add(helper(__ldg(in + i)) + sqrtf(twice(table[i & 1])) + fmaxf(in[i], 0.0f));
    tile[threadIdx.x] = __shfl_down_sync(0xffffffffu, sum.value, 1);
    still[threadIdx.x % kTile] = __logf(tile[0]) + std::max(1, n) + min(n, 3);
    __syncthreads();
    atomicAdd(out + i, tile[threadIdx.x]);
  }
})");
  EXPECT_TRUE(reply.passed) << reply.reason << ": " << reply.detail;
  ASSERT_THAT(reply.entries, SizeIs(1));
  EXPECT_THAT(reply.entries[0], ::testing::MatchesRegex("image::cupilot_[0-9a-f]+::v"));
}

// What is only looked at is built beside an original without a body.
TEST_F(WhitelistTest, SaysTheClosureWithoutWhatTheVariantDoesNotNeed) {
  const auto reply = Check(kPlain);
  ASSERT_TRUE(reply.passed) << reply.detail;
  EXPECT_THAT(reply.bare_closure, HasSubstr("float helper(float x) { return x * 2.0f; }\n"
                                            "__global__ void k(const float* in, float* out, int n) "
                                            "{}\n}\n"));
  EXPECT_THAT(reply.bare_closure, HasSubstr("#include <cstdlib>\nnamespace image {\n"));
  const auto named = Check(
      "__global__ void v(const float* in, float* out, int n) {\n"
      "  void (*original)(const float*, float*, int) = k;\n"
      "  if (original != nullptr) out[0] = in[0];\n}\n");
  ASSERT_TRUE(named.passed) << named.detail;
  EXPECT_EQ(named.bare_closure, "") << "the variant needs the original";
  EXPECT_EQ(Check("void host() {}").bare_closure, "");
}

TEST_F(WhitelistTest, RefusesHostCode) {
  Refuses(std::string(kPlain) + "void host() {}", "forbidden_construct");
  Refuses(std::string(kPlain) + "__host__ __device__ void both() {}", "forbidden_construct");
  Refuses(std::string(kPlain) + "__attribute__((constructor)) __device__ void early() {}",
          "forbidden_construct", "constructor");
  Refuses(std::string(kPlain) + "int counter = 3;", "forbidden_construct");
  Refuses(std::string(kPlain) + "extern int counter;", "forbidden_construct", "extern");
  Refuses(std::string(kPlain) + "__device__ int counter;", "forbidden_construct");
  Refuses(std::string(kPlain) + "const float start = sqrtf(2.0f);", "forbidden_construct",
          "run time");
  Refuses(std::string(kPlain) + "struct S { S() {} };", "forbidden_construct");
  Refuses(std::string(kPlain) + "struct S { static int shared; };", "forbidden_construct");
}

TEST_F(WhitelistTest, RefusesWaysOutOfTheNamespace) {
  Refuses(std::string(kPlain) + "} void escaped() {} namespace other {", "forbidden_construct");
  Refuses(std::string(kPlain) + "} __device__ void escaped() {} __device__ void f() {",
          "forbidden_construct", "bracket");
  Refuses(std::string(kPlain) + "\n#define out in\n", "forbidden_construct", "directive");
  Refuses(std::string(kPlain) + "\n#pragma once\n", "forbidden_construct", "directive");
  Refuses(std::string(kPlain) + "\n#pragma unrolled\n", "forbidden_construct", "directive");
  Refuses(std::string(kPlain) + "\n#pragma unroll /*\n*/\n", "forbidden_construct", "directive");
  Refuses(std::string(kPlain) + "\n%:define out in\n", "forbidden_construct");
  Refuses(std::string(kPlain) + "_Pragma(\"once\")", "forbidden_construct", "_Pragma");
  Refuses(std::string(kPlain) + "asm(\".section .init_array\");", "forbidden_construct", "asm");
  Refuses(std::string(kPlain) + "// a comment \\\nint x;", "forbidden_construct", "spliced");
}

TEST_F(WhitelistTest, RefusesCallsOfTheHost) {
  const auto body = [](const std::string& text) {
    return "__global__ void v(const float* in, float* out, int n) { " + text + " }";
  };
  Refuses(body("system(\"true\");"), "forbidden_construct", "system");
  Refuses(body("printf(\"x\");"), "forbidden_construct", "printf");
  Refuses(body("void* p = malloc(4); out[0] = p != nullptr;"), "forbidden_construct", "malloc");
  Refuses(body("void* p; cudaMalloc(&p, 4);"), "forbidden_construct", "cudaMalloc");
  Refuses(body("int (*f)(const char*) = system; f(\"true\");"), "forbidden_construct");
  Refuses(body("((void (*)())0)();"), "forbidden_construct");
  Refuses(body("static int calls = 0; ++calls;"), "forbidden_construct", "static");
  Refuses(body("float* p = new float[4]; out[0] = p[0];"), "forbidden_construct", "new");
  Refuses(body("image::k<<<1, 1>>>(in, out, n);"), "forbidden_construct", "launch");
}

// With one a variant could see that it is watched.
TEST_F(WhitelistTest, RefusesClocks) {
  const auto body = [](const std::string& text) {
    return "__global__ void v(const float* in, float* out, int n) { " + text + " }";
  };
  Refuses(body("out[0] = clock64() != 0 ? in[0] : 0.0f;"), "forbidden_construct", "reads a clock");
  Refuses(body("out[0] = clock() & 1;"), "forbidden_construct", "reads a clock");
  Refuses(body("__nanosleep(100); out[0] = in[0];"), "forbidden_construct", "sleeps");
  Refuses("template <class T> __device__ T late(T x) { return x + clock64(); }\n" +
              body("out[0] = late(in[0]);"),
          "forbidden_construct", "clock64");
}

TEST_F(WhitelistTest, RefusesFastMathThatTheOriginalDoesNotUse) {
  const auto body = [](const std::string& text) {
    return "__global__ void v(const float* in, float* out, int n) { out[0] = " + text + "; }";
  };
  Refuses(body("__expf(in[0])"), "forbidden_numerics", "__expf");
  Refuses(body("__fdividef(in[0], in[1])"), "forbidden_numerics", "__fdividef");
  EXPECT_TRUE(Check(body("__logf(in[0])")).passed);
}

TEST_F(WhitelistTest, SaysWhatDoesNotParse) {
  Refuses("__global__ void v(const float* in) { undeclared(in); }", "build_failed");
  // By lines of the variant, which are all that its author knows.
  Refuses("__global__ void v(const float* in) {\n  float x = in[0];\n  y += x;\n}", "build_failed",
          "line 3 of the variant: use of undeclared identifier 'y', in '  y += x;'");
  const auto reply = Check(kPlain, "w");
  EXPECT_EQ(reply.reason, "invalid_launch");
}

}  // namespace
}  // namespace cupilot::source
