#include "source/scan.h"

#include <gmock/gmock.h>

#include <cstddef>

#include "base/file.h"
#include "base/hash.h"
#include "scan_fixture.h"
#include "source/closure_options.h"

namespace cupilot::source {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kScale = R"(#include <vector>
#include <string>
namespace image {
constexpr int kUnused = 3;
__constant__ float gains[4] = {1, 2, 3, 4};
struct Pixel {
  float r, g;
  __device__ float sum() const { return r + g; }
  std::string describe() const { return std::to_string(r); }
};
__device__ float clamp01(float v) { return v < 0.0f ? 0.0f : v; }
namespace {
__device__ inline float weigh(const Pixel& p, int i) { return clamp01(p.sum()) * gains[i & 3]; }
}  // namespace
// cupilot: tune
// cupilot: workload small grid=4 block=32 n=128 k=0.5 in=normal[2*n] out=[n]
__global__ void __launch_bounds__(256) scale(const float* __restrict__ in, float* out, const int n,
                                             float k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Pixel p{in[i], in[i + n]};
  if (i < n) out[i] = weigh(p, i) * k;
}
void host(std::vector<float>& v) { scale<<<1, 32>>>(v.data(), v.data(), 1, 2.0f); }
__global__ void other(float* x) { x[0] = 1; }
}  // namespace image
)";

using ScanTest = ScanFixture;

TEST_F(ScanTest, FillsTheKernelsRecord) {
  const protocol::ScanReply reply = ScanText(kScale);
  EXPECT_THAT(reply.warnings, IsEmpty());
  EXPECT_THAT(reply.files, ElementsAre(folder_ + "/main.cu"));
  EXPECT_THAT(reply.untagged_kernels, ElementsAre("image::other"));
  ASSERT_EQ(reply.kernels.size(), 1u);
  const records::Kernel& kernel = reply.kernels.front();
  EXPECT_EQ(kernel.declined, "");
  EXPECT_EQ(kernel.name, "image::scale");
  EXPECT_EQ(kernel.base_name, "scale");
  EXPECT_THAT(kernel.namespaces, ElementsAre("image"));
  EXPECT_EQ(kernel.signature, "_ZN5image5scaleEPKfPfif");
  EXPECT_EQ(kernel.file, folder_ + "/main.cu");
  EXPECT_EQ(kernel.line, 17);
  EXPECT_EQ(kernel.key.size(), 40u);
  EXPECT_FALSE(kernel.synchronises);
  ASSERT_EQ(kernel.parameters.size(), 4u);
  EXPECT_EQ(kernel.parameters[0].canonical, "const float *");
  EXPECT_EQ(kernel.parameters[0].type, "const float *");
  EXPECT_EQ(kernel.parameters[2].type, "int");
  EXPECT_EQ(kernel.parameters[0].element, "float");
  EXPECT_EQ(kernel.parameters[0].element_bytes, 4);
  EXPECT_TRUE(kernel.parameters[0].element_const);
  EXPECT_FALSE(kernel.parameters[1].element_const);
  EXPECT_EQ(kernel.parameters[2].kind, records::ParameterKind::kInteger);
  EXPECT_EQ(kernel.parameters[2].canonical, "int");
  EXPECT_TRUE(kernel.parameters[2].is_signed);
  EXPECT_EQ(kernel.parameters[3].kind, records::ParameterKind::kFloating);
  ASSERT_EQ(kernel.globals.size(), 1u);
  EXPECT_EQ(kernel.globals[0].symbol, "image::gains");
  EXPECT_EQ(kernel.globals[0].space, "constant");
  EXPECT_EQ(kernel.globals[0].count, 4);
  ASSERT_EQ(kernel.cases.size(), 1u);
  const records::Case& workload = kernel.cases[0];
  EXPECT_EQ(workload.name, "small");
  EXPECT_THAT(workload.grid, ElementsAre("4", "1", "1"));
  EXPECT_EQ(workload.arguments[0].count, "2*n");
  EXPECT_EQ(workload.arguments[0].access, records::Access::kIn);
  EXPECT_EQ(workload.arguments[1].access, records::Access::kOut);
  EXPECT_EQ(workload.arguments[2].value, "128");
  EXPECT_EQ(workload.arguments[3].value, "0.5");
}

TEST_F(ScanTest, ClosureHoldsWhatTheKernelReachesAndNoHostCode) {
  const std::string text = OneKernel(kScale).closure_source;
  EXPECT_THAT(text, HasSubstr("#include <cuda_runtime.h>"));
  EXPECT_THAT(text, HasSubstr("__constant__ float gains[4]"));
  EXPECT_THAT(text, HasSubstr("float sum() const"));
  EXPECT_THAT(text, HasSubstr("__global__ void __launch_bounds__(256) scale("));
  EXPECT_THAT(text, HasSubstr("namespace {"));
  for (const char* absent : {"describe", "kUnused", "host", "other", "cupilot", "vector", "# "}) {
    EXPECT_THAT(text, Not(HasSubstr(absent))) << absent;
  }
}

TEST_F(ScanTest, ClosureRangesAreTheDeclarationsInTheirFiles) {
  const records::Kernel kernel = OneKernel(kScale);
  const std::string file = *base::ReadFile(folder_ + "/main.cu");
  std::vector<std::string> texts;
  for (const records::ClosureRange& range : kernel.closure) {
    EXPECT_EQ(range.file, folder_ + "/main.cu");
    texts.push_back(file.substr(range.begin, range.end - range.begin));
    EXPECT_EQ(range.hash, base::HashHex(texts.back()));
  }
  ASSERT_EQ(texts.size(), 5u);
  EXPECT_EQ(texts[0], "__constant__ float gains[4] = {1, 2, 3, 4};");
  EXPECT_TRUE(texts[1].starts_with("struct Pixel {") && texts[1].ends_with("};"));
  EXPECT_TRUE(texts[4].starts_with("__global__ void") && texts[4].ends_with("}"));
}

TEST_F(ScanTest, HeadersAndMacrosOfTheUserBelongToTheClosure) {
  Write("lib/util.h", R"(#pragma once
#define SQUARE(x) ((x) * (x))
#define KERNEL extern "C" __global__ void
typedef unsigned int uint_t;
template <class T> __device__ T twice(T v) { return v + v; }
template <> __device__ inline int twice<int>(int v) { return v << 1; }
)");
  const protocol::ScanReply reply = ScanText(R"(#include "util.h"
#include <cstdint>
// cupilot: tune
KERNEL square(float* x, std::uint32_t n) {
  uint_t i = threadIdx.x;
#pragma unroll 4
  for (int j = 0; j < 4; ++j) if (i < n) x[i] = twice(SQUARE(x[i]));
}
)",
                                             {"-O2", "-Ilib"});
  EXPECT_THAT(reply.files, ElementsAre(folder_ + "/main.cu", folder_ + "/lib/util.h"));
  ASSERT_EQ(reply.kernels.size(), 1u);
  const records::Kernel& kernel = reply.kernels[0];
  EXPECT_EQ(kernel.declined, "");
  EXPECT_EQ(kernel.signature, "square");
  EXPECT_THAT(kernel.closure_source, HasSubstr("#include <cstdint>"));
  EXPECT_THAT(kernel.closure_source, HasSubstr("#pragma unroll 4"));
  EXPECT_THAT(kernel.closure_source, HasSubstr("typedef unsigned int uint_t;"));
  EXPECT_THAT(kernel.closure_source, HasSubstr("twice<int>"));
  EXPECT_THAT(kernel.closure_source, Not(HasSubstr("SQUARE")));
  EXPECT_THAT(kernel.closure_macros, HasSubstr("#define SQUARE(x) ((x) * (x))\n"));
  // Its workload may be captured.
  EXPECT_TRUE(kernel.cases.empty());
  EXPECT_TRUE(reply.warnings.empty());
}

TEST_F(ScanTest, FindsBarriersSharedMemoryAndAtomics) {
  const records::Kernel kernel = OneKernel(R"(
__device__ float total(float v) { for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o); return v; }
// cupilot: tune
__global__ void sum(const float* x, float* y) {
  float v = total(x[threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(y, v);
}
)");
  EXPECT_EQ(kernel.declined, "");
  EXPECT_TRUE(kernel.synchronises);
  EXPECT_TRUE(kernel.uses_atomics);
}

TEST_F(ScanTest, UsingDirectivesAliasesAndDeclarationsWork) {
  const records::Kernel kernel = OneKernel(R"(#include <algorithm>
namespace deep { namespace down { struct V { float a; }; __device__ float get(V v) { return v.a; } } }
namespace dd = deep::down;
namespace app {
using namespace deep::down;
using std::size_t;
using Real = float;
enum class Mode { kA = 1, kB };
__device__ Real pick(V v, Mode m);
// cupilot: tune
__global__ void k(Real* x, size_t n) { dd::V v{1}; x[0] = get(v) + pick(v, Mode::kB); }
__device__ Real pick(V v, Mode m) { return m == Mode::kA ? v.a : 0; }
}
)");
  EXPECT_EQ(kernel.declined, "");
  EXPECT_THAT(kernel.closure_source, HasSubstr("namespace dd = deep::down;"));
  EXPECT_THAT(kernel.closure_source, HasSubstr("using namespace deep::down;"));
  EXPECT_THAT(kernel.closure_source, HasSubstr("__device__ Real pick(V v, Mode m);"));
}

TEST_F(ScanTest, DeclinesWhatItCannotHandleWithItsPlace) {
  struct Sample {
    const char* text;
    const char* reason;
  };
  const Sample samples[] = {
      {"#include <cstdio>\n// cupilot: tune\n__global__ void k(float* x) {\n printf(\"%f\", x[0]); "
       "}\n",
       "main.cu:4: 'printf': it prints"},
      {"// cupilot: tune\n__global__ void k(volatile float* x) { x[0] = 1; }\n",
       "main.cu:2: 'x' is volatile"},
      {"// cupilot: tune\n__global__ void k(long long* x) {\n x[0] = clock64(); }\n",
       "main.cu:3: 'clock64': it reads a clock"},
      {"__device__ int count;\n// cupilot: tune\n__global__ void k(int* x) {\n count += x[0]; }\n",
       "main.cu:4: it writes the device variable 'count'"},
      {"__device__ int table[4];\n// cupilot: tune\n__global__ void k(int* x) {\n"
       " atomicAdd(&table[1], x[0]); }\n",
       "main.cu:4: it writes the device variable 'table'"},
      {"// cupilot: tune\ntemplate <class T> __global__ void k(T* x) { x[0] = 1; }\n",
       "is a template"},
      {"// cupilot: tune\n__global__ void k(int* x) { asm(\"nop;\"); }\n",
       "the host device does not run assembly"},
      {"// cupilot: tune\n__global__ void k(int* x) {\n int* p = new int; *x = *p; }\n",
       "main.cu:3: it allocates memory"},
      {"constexpr int kSecond = __TIME__[7];\n"
       "// cupilot: tune\n__global__ void k(int* x) { x[0] = kSecond; }\n",
       "the kernel depends on the time of the build"},
  };
  for (const Sample& sample : samples) {
    const protocol::ScanReply reply = ScanText(sample.text);
    ASSERT_EQ(reply.kernels.size(), 1u) << sample.text;
    EXPECT_THAT(reply.kernels[0].declined, HasSubstr(sample.reason)) << sample.text;
    EXPECT_THAT(reply.warnings, ::testing::Contains(HasSubstr(sample.reason)));
  }
}

TEST_F(ScanTest, ReadingADeviceTableIsFine) {
  const records::Kernel kernel = OneKernel(R"(
__device__ int table[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ const float kHalf = 0.5f;
// cupilot: tune
__global__ void k(int* x) { x[table[1][0]] = table[0][threadIdx.x] * 2 + (int)kHalf; }
)");
  EXPECT_EQ(kernel.declined, "");
  ASSERT_EQ(kernel.globals.size(), 2u);
  EXPECT_EQ(kernel.globals[0].count, 8);
  EXPECT_EQ(kernel.globals[0].element, "int");
}

TEST_F(ScanTest, ASyntaxErrorElsewhereDoesNotMatter) {
  const protocol::ScanReply reply = ScanText(R"(
void broken() { undeclared_thing(1); }
// cupilot: tune
__global__ void k(float* x) { x[0] = 1; }
)");
  ASSERT_EQ(reply.kernels.size(), 1u);
  EXPECT_EQ(reply.kernels[0].declined, "");
}

TEST_F(ScanTest, SurvivesTextsThatAreNoSource) {
  for (const char* text : {"\n", "#if 1\n", "/* open", "\"open\n", "}}}}\n", "#include <nothing>\n",
                           "// cupilot: tune", "// cupilot:\n__global__ void k() {}\n",
                           "// cupilot: tune\n__global__ void k(", "\xff\xfe\x01 \n"}) {
    const protocol::ScanReply reply = ScanText(text);
    for (const records::Kernel& kernel : reply.kernels) EXPECT_NE(kernel.declined, "") << text;
  }
}

TEST_F(ScanTest, KernelsAreDescribedByNameWithoutATag) {
  Write("main.cu", "namespace a { __global__ void k(float* x) { x[0] = 1; } }\n");
  protocol::ScanRequest request;
  request.command = Command();
  request.kernels = {"k"};
  const auto reply = Scan(request);
  ASSERT_TRUE(reply.has_value());
  ASSERT_EQ(reply->kernels.size(), 1u);
  EXPECT_EQ(reply->kernels[0].name, "a::k");
  EXPECT_THAT(reply->warnings, IsEmpty());
}

TEST_F(ScanTest, WhatATagGivesIsAWorkloadThatCanBeGivenBack) {
  const records::Kernel kernel = OneKernel(
      "// cupilot: tune\n"
      "// cupilot: workload a grid=1 block=32 epsilon=1e-5 x=normal[32]\n"
      "__global__ void k(float* x, float epsilon) { x[threadIdx.x] += epsilon; }\n");
  ASSERT_EQ(kernel.cases.size(), 1u);
  EXPECT_EQ(kernel.cases[0].arguments[1].value, "0.00001");
  records::Workload workload;
  workload.kernel = "k";
  workload.cases = kernel.cases;
  const auto again = records::ParseWorkload(records::ToJson(workload));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->cases[0].arguments[1].value, "0.00001");
}

TEST_F(ScanTest, ASnapshotStandsForTheFile) {
  Write("main.cu", "int old;\n");
  protocol::ScanRequest request;
  request.command = Command();
  request.source_text = "// cupilot: tune\n__global__ void k(float* x) { x[0] = 1; }\n";
  const auto reply = Scan(request);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->kernels.size(), 1u);
}

TEST_F(ScanTest, SourcesForNvccWorkToo) {
  if (!base::FileExists("/usr/local/cuda/bin/nvcc")) GTEST_SKIP() << "no CUDA toolkit here";
  Write("main.cu",
        std::string("#include <cuda_fp16.h>\n") + kScale +
            "// cupilot: tune\n__global__ void h(__half* x) { x[0] = __hadd(x[0], x[1]); }\n");
  protocol::ScanRequest request;
  request.command = Command({"-O3", "-std=c++17", "-gencode", "arch=compute_80,code=sm_80"});
  request.command.arguments[0] = "/usr/local/cuda/bin/nvcc";
  const auto reply = Scan(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  ASSERT_EQ(reply->kernels.size(), 2u);
  for (const records::Kernel& kernel : reply->kernels) EXPECT_EQ(kernel.declined, "");
  EXPECT_THAT(reply->kernels[1].closure_source, HasSubstr("#include <cuda_fp16.h>"));
  EXPECT_EQ(reply->kernels[1].parameters[0].element_bytes, 2);
}

class OlderToolkitTest : public ScanFixture {
 protected:
  // Its headers refuse the compilers that came after it: that is for its nvcc to say.
  protocol::ScanReply ScanWith(int version, const std::string& text) {
    Write("older/bin/nvcc", "");
    Write("older/include/cuda_runtime.h",
          "#if !__NV_NO_HOST_COMPILER_CHECK\n#error -- unsupported clang version!\n#endif\n"
          "#include \"" +
              folder_ + "/toolkit/include/cuda_runtime.h\"\n");
    Write("older/include/cuda_runtime_api.h",
          "#define CUDART_VERSION " + std::to_string(version) + "\n");
    Write("older/include/of_the_toolkit.h",
          "__device__ inline float Half(float x) { return x / 2; }\n");
    Write("main.cu", text);
    protocol::ScanRequest request;
    request.command = Command();
    request.command.arguments[0] = folder_ + "/older/bin/nvcc";
    auto reply = Scan(request);
    EXPECT_TRUE(reply.has_value()) << (reply ? "" : reply.error().message);
    return reply ? std::move(*reply) : protocol::ScanReply{};
  }
};

TEST_F(OlderToolkitTest, ReadsWithOurParser) {
  const protocol::ScanReply reply =
      ScanWith(11080,
               "#include <of_the_toolkit.h>\n"
               "// cupilot: tune\n__global__ void k(float* x) { x[0] = Half(x[0]); }\n");
  EXPECT_THAT(reply.warnings, Each(Not(HasSubstr("unsupported"))));
  ASSERT_EQ(reply.kernels.size(), 1u);
  EXPECT_EQ(reply.kernels[0].declined, "");
  const auto parsed = ParseClosure(reply.kernels[0], reply.kernels[0].closure_source);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(FirstError(*parsed), "");
}

// The hook could not tell which arguments such a kernel has, and would never run a variant.
TEST_F(OlderToolkitTest, LambdasNeedOneThatTellsOfTheirArguments) {
  constexpr const char* kOfALambda = R"(
// cupilot: tune
// cupilot: workload grid=1 block=32 out=[32]
template <class F> __global__ void map(F f, float* out) { out[threadIdx.x] = f(threadIdx.x); }
void run(float* out, float by) {
  map<<<1, 32>>>([by] __device__(int i) { return by * i; }, out);
}
)";
  EXPECT_THAT(ScanWith(12030, kOfALambda).warnings,
              Contains(HasSubstr("main.cu:6 needs a CUDA toolkit of 12.4 or newer")));
  EXPECT_THAT(ScanWith(12040, kOfALambda).warnings, Each(Not(HasSubstr("12.4"))));
}

TEST_F(ScanTest, WhatOnlyTheHostCallsIsNoPartOfAClass) {
  const records::Kernel kernel = OneKernel(R"(
#include <cstdio>
struct Base { float factor; void Host() const { std::printf("%g", factor); } };
class Value : public Base {
 public:
  using Base::Host;
  __device__ float Get() const { return factor * x_; }
  friend void Print(const Value& v) { std::printf("%g", v.x_); }

 private:
  float x_, y_;
};
// cupilot: tune
// cupilot: workload w grid=1 block=32 out=[32]
__global__ void fill(float* out) { Value v{}; out[threadIdx.x] = v.Get(); }
)");
  EXPECT_EQ(kernel.declined, "");
  EXPECT_EQ(kernel.closure_source.find("printf"), std::string::npos) << kernel.closure_source;
}

// In the whole text the inline namespace tells two apart, in the kernel's own there is only one.
TEST_F(ScanTest, InlineNamespacesAreNamed) {
  const records::Kernel kernel = OneKernel(R"(
namespace a {
inline namespace v2 {
namespace b {
// cupilot: tune
// cupilot: workload w grid=1 block=32 out=[32]
__global__ void fill(float* out) { out[threadIdx.x] = 1; }
}  // namespace b
}  // namespace v2
namespace b { struct Other {}; }
}  // namespace a
)");
  EXPECT_EQ(kernel.declined, "");
  EXPECT_EQ(kernel.name, "a::v2::b::fill");
}

TEST_F(ScanTest, ValuesInAttributesAreReached) {
  const records::Kernel kernel = OneKernel(R"(
constexpr int kWarps = 4;
constexpr int Wide() { return 16; }
struct alignas(Wide()) Cell { float x[4]; };
// cupilot: tune
// cupilot: workload w grid=1 block=32 out=[32]
__global__ void __launch_bounds__(kWarps * 32) fill(float* out) {
  Cell cell = {};
  out[threadIdx.x] = cell.x[0];
}
)");
  EXPECT_EQ(kernel.declined, "");
}

// The same text for the parser and for the compiler of this test.
#define CUPILOT_STRUCTURES \
  struct Extent {          \
    short width;           \
    long long pitch;       \
  };                       \
  class Frame {            \
   public:                 \
    const float* in;       \
    bool flipped;          \
    Extent extent[2];      \
    unsigned char tags[3]; \
    float scale;           \
    double bias;           \
  };
#define CUPILOT_TEXT(...) CUPILOT_TEXT_OF(__VA_ARGS__)
#define CUPILOT_TEXT_OF(...) #__VA_ARGS__

namespace layouts {
CUPILOT_STRUCTURES
}  // namespace layouts

TEST_F(ScanTest, TellsWhereNumbersLieInStructures) {
  using layouts::Extent;
  using layouts::Frame;
  using Member = records::Parameter::Member;
  const auto integer = records::ParameterKind::kInteger,
             floating = records::ParameterKind::kFloating;
  const std::string kernel =
      "\n// cupilot: tune\n__global__ void k(float* out, Frame f, int2 size) { out[0] = size.x; "
      "}\n";
  const records::Kernel found = OneKernel(CUPILOT_TEXT(CUPILOT_STRUCTURES) + kernel);
  ASSERT_EQ(found.parameters.size(), 3u);
  const auto at = [](std::size_t offset) { return static_cast<std::int64_t>(offset); };
  const std::int64_t second = at(offsetof(Frame, extent) + sizeof(Extent));
  EXPECT_THAT(
      found.parameters[1].members,
      ElementsAre(
          Member{"flipped", "bool", integer, at(offsetof(Frame, flipped)), 1, false},
          Member{"extent[0].width", "short", integer, at(offsetof(Frame, extent)), 2, true},
          Member{"extent[0].pitch", "long long", integer,
                 at(offsetof(Frame, extent) + offsetof(Extent, pitch)), 8, true},
          Member{"extent[1].width", "short", integer, second, 2, true},
          Member{"extent[1].pitch", "long long", integer, second + at(offsetof(Extent, pitch)), 8,
                 true},
          Member{"tags[0]", "unsigned char", integer, at(offsetof(Frame, tags)), 1, false},
          Member{"tags[1]", "unsigned char", integer, at(offsetof(Frame, tags) + 1), 1, false},
          Member{"tags[2]", "unsigned char", integer, at(offsetof(Frame, tags) + 2), 1, false},
          Member{"scale", "float", floating, at(offsetof(Frame, scale)), 4, false},
          Member{"bias", "double", floating, at(offsetof(Frame, bias)), 8, false}));
  EXPECT_THAT(found.parameters[2].members, ElementsAre(Member{"x", "int", integer, 0, 4, true},
                                                       Member{"y", "int", integer, 4, 4, true}));
  EXPECT_THAT(found.parameters[0].members, ::testing::IsEmpty());
  // They survive being written down.
  const auto again = records::ParseKernel(records::ToJson(found));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->parameters[1].members, found.parameters[1].members);
}

TEST_F(ScanTest, ALayoutThatItsTextDoesNotTellHasNoMembers) {
  for (const char* structure : {"struct F { int a : 3; };", "struct B { int b; }; struct F : B {};",
                                "struct F { union { int a; float b; }; };",
                                "struct __attribute__((packed)) F { char a; int b; };"}) {
    const records::Kernel found =
        OneKernel(std::string(structure) +
                  "\n// cupilot: tune\n__global__ void k(float* out, F f) { out[0] = 1; }\n");
    ASSERT_EQ(found.parameters.size(), 2u);
    EXPECT_THAT(found.parameters[1].members, ::testing::IsEmpty()) << structure;
  }
}

}  // namespace
}  // namespace cupilot::source
