#include "source/swap/host_declarations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scale_kernel.h"
#include "source/swap/variant_text.h"

namespace cupilot::source {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

records::Variant Of(const std::string& source) {
  records::Variant variant = PlainVariant();
  variant.source = source;
  variant.id = records::VariantId(variant);
  return variant;
}

std::string Declared(const std::string& source) {
  const auto text = HostDeclarations(ScaleKernel(), Of(source), "app/scale.cu.o");
  EXPECT_TRUE(text) << source << ": " << text.error().message;
  return text.value_or("");
}

TEST(HostDeclarations, WritesKernelsWithoutTheirBodies) {
  const std::string text = Declared(
      "__device__ float twice(float x) { return 2 * x; }\n"
      "static __global__ __launch_bounds__(PER * 32) void scale_by(const float* __restrict__ in, "
      "unsigned long long int n = sizeof(int), app::Box<float, 4> b, int c[8]) { call(in); }\n"
      "__global__ void other(void) {}\ntemplate <int N> __global__ void never(int (&x)[N]) {}\n");
  EXPECT_THAT(text, HasSubstr("static __global__ void scale_by(const float *, unsigned long long "
                              "int, app::Box<float, 4 >, int *) CUPILOT_SWAP_BODY\n"
                              "__global__ void other() CUPILOT_SWAP_BODY\n"));
  for (const char* hidden : {"call", "twice", "never", "sizeof", "launch_bounds"}) {
    EXPECT_THAT(text, Not(HasSubstr(hidden)));
  }
}

TEST(HostDeclarations, TypesOfTheVariantAreOpaque) {
  const std::string text = Declared(
      "struct Pair { int a, b; Pair() { call(); } };\nusing wide = float4;\ntypedef long long "
      "index;\n"
      "struct alignas(8) Unused {};\nenum class Mode : int { kA };\n"
      "__global__ void scale_by(Mode m, const wide* in, Pair* out, index n) {}\n");
  EXPECT_THAT(text, HasSubstr("struct Mode { char byte; };\ntypedef float4 wide;\n"
                              "struct Pair { char byte; };\ntypedef long long index;\n"
                              "__global__ void scale_by(Mode, const wide *, Pair *, index) "
                              "CUPILOT_SWAP_BODY\n"));
  EXPECT_THAT(text, Not(HasSubstr("call")));
  EXPECT_THAT(text, Not(HasSubstr("Unused")));
}

TEST(HostDeclarations, NamesOfNamespacesAndAttributesAreLeftOut) {
  const std::string text = Declared(
      "namespace cg = cooperative_groups;\nusing namespace cg;\n"
      "[[gnu::aligned(16)]] [[gnu::noinline]] __global__ void scale_by(const float* in, int n) "
      "{}\n");
  EXPECT_THAT(text,
              HasSubstr("\n__global__ void scale_by(const float *, int) CUPILOT_SWAP_BODY\n"));
  for (const char* hidden : {"cg", "gnu", "namespace cg"})
    EXPECT_THAT(text, Not(HasSubstr(hidden)));
}

TEST(HostDeclarations, VariablesHaveNoInitialiser) {
  const std::string text = Declared(
      "__constant__ float taps[2] = {f(1), 2}, more;\nstatic __device__ const int4 box{1, 2, 3, "
      "4};\n"
      "constexpr int kPlain = 3;\n__device__ constexpr pair<int, 3> p = g();\n"
      "__global__ void scale_by(int n) {}\n");
  EXPECT_THAT(text, HasSubstr("__constant__ char taps[1];\n__constant__ char more[1];\n"
                              "__device__ char box[1];\n__device__ char p[1];\n__global__"));
  EXPECT_THAT(text, Not(HasSubstr("kPlain")));
}

// What is more than a name would be text of the variant in host code.
TEST(HostDeclarations, RefusesWhatItCannotWrite) {
  for (const char* source :
       {"__global__ void scale_by(decltype(f()) x) {}", "__global__ void scale_by(Box<f()> x) {}",
        "__global__ void scale_by(float (*f)(int)) {}", "__global__ void scale_by(int& n) {}",
        "__global__ void scale_by(Box<sizeof(int)> x) {}", "__global__ void scale_by(int n {}",
        "__global__ void scale_by(__attribute__((x)) int n) {}",
        "namespace b { __global__ void scale_by(int n) {} }",
        "extern \"C\" __global__ void scale_by(int n) {}", "__global__ void scale_by(auto x) {}"}) {
    EXPECT_FALSE(HostDeclarations(ScaleKernel(), Of(source), "u")) << source;
  }
}

}  // namespace
}  // namespace cupilot::source
