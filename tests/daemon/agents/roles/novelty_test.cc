#include "agents/roles/novelty.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/daemon/agents/roles/examples.h"

namespace cupilot::agents {
namespace {

constexpr const char* kSource = R"(
// Adds rows.
struct Pair { float a; int at; };
template <int LANES>
__device__ __forceinline__ float reduce(float value) {
#pragma unroll
  for (int lane = LANES / 2; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  return value;
}
__global__ void __launch_bounds__(256) rows(const float* __restrict__ in, float* out, int n) {
  extern __shared__ float tile[];
  const int row = blockIdx.x, first = threadIdx.x;
  Pair best = {0.0f, 0};
  float4 v = reinterpret_cast<const float4*>(in)[row * kScale];
  float sum = v.x * best.a;
  for (int i = first; i < n; i += 32) sum += in[row * n + i];
  tile[first] = reduce<32>(sum);
  if (first == 0) out[row] = tile[0];
}
)";

// The same with other names, comments and blanks.
constexpr const char* kRenamed = R"(
struct Two { float a; int at; };
template <int WIDTH> __device__ __forceinline__ float fold(float x) {
#pragma   unroll
  for (int d = WIDTH / 2; d > 0; d /= 2)
    x += __shfl_xor_sync(~0u, x, d);   /* down */
  return x;
}
__global__ void __launch_bounds__(256) kernel(const float* __restrict__ from, float *to, int count) {
  extern __shared__ float cache[];
  const int r = blockIdx.x, t = threadIdx.x;
  Two b = {0.0f, 0};
  float4 four = reinterpret_cast<const float4*>(from)[r * kScale];
  float total = four.x * b.a;
  for (int j = t; j < count; j += 32) total += from[r * count + j];
  cache[t] = fold<32>(total);
  if (t == 0) to[r] = cache[0];
}
)";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(NormalizedSource, IsTheSameUnderOtherNames) {
  EXPECT_EQ(NormalizedSource(kSource), NormalizedSource(kRenamed));
  EXPECT_EQ(NormalizedSource("float  a ;// x"), "float $0 ;");
}

TEST(NormalizedSource, OtherCodeIsOther) {
  const std::string source = kSource;
  const std::string same = NormalizedSource(source);
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"i += 32", "i += 64"},                     // a literal
           {"0.0f, 0}", "1.0f, 0}"},                   //
           {"* kScale", "* kShift"},                   // a name of others
           {"__shfl_xor_sync", "__shfl_down_sync"},    //
           {"v.x", "v.y"},                             // a member
           {"const float4*", "const float2*"},         // a type
           {"out[row]", "out[first]"},                 // another of its own names
           {"row * n + i", "i * n + row"},             //
           {"sum += in", "sum -= in"},                 // an operator
           {"#pragma unroll", "#pragma unroll 4"}}) {  // a hint
    EXPECT_NE(NormalizedSource(Replaced(source, from, to)), same) << from << " -> " << to;
  }
}

TEST(NormalizedSource, NamesOfOthersAreNotNumbered) {
  // Products, returns and calls look a little like declarations.
  EXPECT_NE(NormalizedSource("__device__ float f(float a) { return a * kOne; }"),
            NormalizedSource("__device__ float f(float a) { return a * kTwo; }"));
  EXPECT_NE(NormalizedSource("__device__ float f() { return kOne; }"),
            NormalizedSource("__device__ float f() { return kTwo; }"));
  EXPECT_NE(NormalizedSource("__device__ float f(float a) { if (a < 1) return a; else kOne(a); }"),
            NormalizedSource("__device__ float f(float a) { if (a < 1) return a; else kTwo(a); }"));
  EXPECT_NE(NormalizedSource("__device__ int f(int a) { return g(a, kOne); }"),
            NormalizedSource("__device__ int f(int a) { return g(a, kTwo); }"));
}

TEST(NoveltyKey, IsOfStructure) {
  const records::Variant variant = ExampleVariant();
  const std::string key = NoveltyKey(variant);
  EXPECT_EQ(key.size(), 40u);
  records::Variant other = variant;
  other.source = Replaced(other.source, "quick", "fast");
  other.launches[0].entry = "fast";
  other.launches[0].grid[0] = "ceil_div( count,THREADS )";
  other.values["THREADS"] = 64;  // what the search for numbers finds
  other.parents = {"x"};
  EXPECT_EQ(NoveltyKey(other), key);
  const auto changed = [&](auto change) {
    records::Variant one = variant;
    change(one);
    return NoveltyKey(one) != key;
  };
  EXPECT_TRUE(changed([](auto& v) { v.launches[0].grid[0] = "count"; }));
  EXPECT_TRUE(changed([](auto& v) { v.guard = "width % 4 == 0"; }));
  EXPECT_TRUE(changed([](auto& v) { v.workspace = {{"part", "4", false}}; }));
  EXPECT_TRUE(changed([](auto& v) { v.tunables["THREADS"] = {32, 64, 128}; }));
  EXPECT_TRUE(changed([](auto& v) { v.includes = {"mma.h"}; }));
  EXPECT_TRUE(changed([](auto& v) { v.kernel = "other"; }));
}

}  // namespace
}  // namespace cupilot::agents
