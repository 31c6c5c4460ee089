// Objects that cupilot-nvcc makes of texts that their checks would refuse: what the object itself
// says of them.
#include "client/nvcc/variant_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/file.h"
#include "base/install_layout.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::nvcc {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHead =
    "#include <cuda_runtime.h>\n#include <stdlib.h>\n"
    "__device__ int counter;\n__constant__ float weights[2] = {1, 2};\n";
constexpr const char* kKernel = "__global__ void g(float* out) { out[0] = weights[1]; }\n";

struct Text {
  const char* name;
  const char* of_variant;
  const char* said;  // of a candidate; empty: nothing is wrong
};

class VariantObjectTest : public ::testing::TestWithParam<Text> {
 protected:
  // What the compiler says of it; empty: it is compiled.
  std::string Compiled(const std::string& text, const std::vector<std::string>& more) const {
    const std::string source = folder_.Write("text.cu", text), object = folder_ / "text.o";
    std::vector<std::string> words = {
        base::HostToolkitFolder() + "/bin/nvcc", "-x", "cu", "-O2", "-c", "-Xcompiler", "-fPIC,-w"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {source, "-o", object});
    const auto run = test::RunProgram(words);
    EXPECT_EQ(run.exit_code == 0, base::FileExists(object)) << run.errors;
    return run.exit_code == 0 ? "" : "failed: " + run.errors;
  }
  static std::string Within(const std::string& text) {
    return "namespace cupilot_4ac7384c91b5de08 {\n" + text + kKernel + "}\n";
  }
  test::TemporaryFolder folder_;
};

// A swapped source includes a variant as a file of its own.
std::string OfItsOwnFile(const std::string& text) {
  return "# 1 \"swap/variant.0123456789abcdef.cu\" 1\n" + text + "# 9 \"swap/swap.0123.cu\" 2\n";
}

TEST_P(VariantObjectTest, IsSaidOfACandidateAndOfAnObjectOfTheUser) {
  const std::string variant = Within(GetParam().of_variant);
  for (const bool candidate : {true, false}) {
    const std::string said = candidate ? Compiled(kHead + variant, {"--cupilot-candidate"})
                                       : Compiled(kHead + OfItsOwnFile(variant),
                                                  {"-D__cudaLaunchKernel=cupilot_hook_1"});
    if (*GetParam().said == 0) {
      EXPECT_EQ(said, "") << candidate;
    } else {
      EXPECT_THAT(said, HasSubstr("a variant is not device code alone")) << candidate;
    }
    if (candidate) {
      EXPECT_THAT(said, HasSubstr(GetParam().said));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, VariantObjectTest,
    ::testing::Values(
        Text{"honest",
             "struct T { float a; __device__ float f() const { return expf(a) + powf(a, 2.5f); } "
             "};\n"
             "__global__ void h(float* out, int n, __int128 q) {\n"
             "  T t{out[0]};\n  int i = threadIdx.x;\n"
             "  out[i] = t.f() + weights[i & 1] + (float)(q / n) + (float)__popcll(n) + "
             "sinf(out[1]);\n"
             "  atomicAdd(&counter, 1);\n  if (i > n) __trap();\n"
             "  memcpy(out, out + 8, n);\n  assert(n > 3);\n"
             "  switch (n) {\n    case 1: out[1] = 1; break;\n    case 2: out[2] = 7; break;\n"
             "    case 3: out[3] = 8; break;\n    case 4: out[4] = 5; break;\n"
             "    case 5: out[5] = 9; break;\n  }\n}\n",
             ""},
        Text{"linkage_of_c", "extern \"C\" int getpid_() { return 1; }\n", "'extern'"},
        Text{"name_of_the_library", "extern \"C\" void* malloc(size_t) { return 0; }\n",
             "'extern'"},
        Text{"called_by_start_files", "extern \"C\" void __gmon_start__() {}\n", "'extern'"},
        Text{"alias",
             "__device__ int f() { return 1; }\n"
             "__device__ int g() __attribute__((alias(\"f\")));\n",
             "the attribute 'alias'"},
        Text{"section",
             "__attribute__((section(\".text#\"))) const int code = 0;\n"
             "__global__ void h(float* out) { out[0] = code; }\n",
             "the attribute 'section'"},
        Text{"attribute_of_gnu", "[[gnu::visibility(\"default\")]] __device__ int f();\n",
             "the attribute 'visibility'"},
        Text{"of_each_thread", "static thread_local int seen;\n", "'thread_local'"},
        Text{"by_a_macro",
             "#define HIDDEN __attribute__((constructor))\nHIDDEN static void f() {}\n",
             "the attribute 'constructor'"},
        Text{"spliced", "__attri\\\n\\ \nbute__((constructor)) static void f() {}\n",
             "the attribute 'constructor'"},
        Text{"operator", "_Pragma(\"GCC optimize 3\") __device__ int f();\n", "directive"},
        Text{"namespace_closed", "}\nextern \"C\" int one() { return 1; }\nnamespace other {\n",
             "outside of"},
        Text{"asm_behind_another_namespace",
             "inline namespace of_a { }\nasm(\".globl one; one: ret\");\n", "'namespace'"},
        Text{"namespace_opened_again",
             "}\nextern \"C\" int one() { return 1; }\nnamespace cupilot_4ac7384c91b5de08 {\n",
             "exactly one namespace"},
        Text{"honest_with_bounds_and_templates",
             "constexpr int kBlock = 64;\n"
             "__global__ void __launch_bounds__(kBlock, 2) h(float* out) { out[0] = kBlock; }\n"
             "template <class T, int N = (4 > 2) ? 8 : 4>\n"
             "__global__ void __launch_bounds__(N) k(T* out) { out[0] = N; }\n"
             "template __global__ void k<float>(float*);\n",
             ""},
        Text{"initialiser", "static int x = system(\"true\");\n", "runs at start or exit"},
        Text{"destructor",
             "struct D { int v; ~D() { system(\"true\"); } };\nconst D d{1};\n"
             "__global__ void h(float* out) { out[0] = d.v; }\n",
             "runs at start or exit"},
        Text{"constructor_attribute",
             "__attribute__((constructor)) static void f() { __builtin_trap(); }\n",
             "the attribute 'constructor'"},
        Text{"destructor_attribute",
             "__attribute__((destructor)) static void f() { __builtin_trap(); }\n",
             "the attribute 'destructor'"},
        Text{"call", "__global__ void h(float* out) { out[0] = system(\"true\"); }\n",
             "refers to 'system'"},
        Text{"pointer",
             "__device__ int (*const volatile p)(const char*) = system;\n"
             "__global__ void h(float* out) { out[0] = p(\"true\"); }\n",
             "refers to 'system'"},
        Text{"chosen_at_start",
             "extern \"C\" {\nstatic int one() { return 1; }\n"
             "static int (*choose())() { return one; }\n"
             "int cupilot_chosen_24cupilot_4ac7384c91b5de08() "
             "__attribute__((ifunc(\"choose\")));\n}\n",
             "'extern'"}),
    [](const auto& one) { return std::string(one.param.name); });

// What words would say sooner, seen in objects of another compiler.
TEST_F(VariantObjectTest, WhatAttributesHideIsSeenInTheObject) {
  const std::pair<const char*, const char*> texts[] = {
      {"__attribute__((constructor)) static void f() { __builtin_trap(); }\n",
       "runs at start or exit"},
      {"__attribute__((destructor)) static void f() { __builtin_trap(); }\n",
       "runs at start or exit"},
      {"extern \"C\" {\nstatic int one() { return 1; }\n"
       "static int (*choose())() { return one; }\n"
       "int chosen() __attribute__((ifunc(\"choose\")));\n}\n",
       "is chosen by code that runs at start"}};
  for (const auto& [text, said] : texts) {
    const std::string source = folder_.Write("text.cc", text), object = folder_ / "text.o";
    ASSERT_EQ(test::RunProgram({"g++", "-c", "-w", source, "-o", object}).exit_code, 0);
    EXPECT_THAT(*WhyNotDeviceCode(object, VariantPlace::kCandidate), HasSubstr(said));
  }
}

// What the user's own code does at start and calls is the user's.
TEST_F(VariantObjectTest, OfTheUsersOwnCodeNothingIsSaid) {
  const std::string text = std::string(kHead) +
                           "struct D { ~D() { system(\"true\"); } } d;\n"
                           "int started = system(\"true\");\n" +
                           kKernel + OfItsOwnFile(Within(""));
  EXPECT_EQ(Compiled(text, {"-D__cudaLaunchKernel=cupilot_hook_1"}), "");
}

// What only the text around a variant makes possible: names of the user's own, macros.
TEST_F(VariantObjectTest, BesideTheUsersCodeAVariantStaysDeviceCode) {
  const std::string users = std::string(kHead) +
                            "int tool(const char* c) { return system(c); }\n"
                            "__device__ inline float twice(float x) { return 2 * x; }\n" +
                            kKernel;
  const auto said = [&](const std::string& text) {
    return Compiled(users + OfItsOwnFile(text), {"-D__cudaLaunchKernel=cupilot_hook_1"});
  };
  EXPECT_EQ(said(Within("__global__ void h(float* out) { out[0] = twice(out[1]); }\n")), "");
  EXPECT_THAT(said(Within("__global__ void h(float* out) { out[0] = tool(\"\"); }\n")),
              HasSubstr("a variant is not device code alone"));
  EXPECT_THAT(said(Within("__global__ void h(float* out) { out[0] = system(\"\"); }\n")),
              HasSubstr("neither of the runtime nor math"));
  EXPECT_THAT(said(Within("__global__ void h(float* out) {\n  const auto* volatile p =\n"
                          "      &std::integral_constant<int (*)(const char*), system>::value;\n"
                          "  out[0] = (*p)(\"\");\n}\n")),
              HasSubstr("a variant is not device code alone"));
  // Macros that stand before the text.
  EXPECT_THAT(said("#define cupilot_4ac7384c91b5de08 other\n" + Within("")),
              HasSubstr("exactly one namespace"));
  EXPECT_THAT(said("#define g g(float*) {} } extern \"C\" int one() { return 1; } namespace x { "
                   "__global__ void g\n" +
                   Within("")),
              HasSubstr("outside of its namespace"));
  EXPECT_THAT(said("#define weights weights[1] = {system(\"\")}; float t\n" +
                   Within("__global__ void h(float* weights) { }\n")),
              HasSubstr("a variant is not device code alone"));
  // And one that stands in no file.
  EXPECT_THAT(Compiled(users + Within(""), {"-D__cudaLaunchKernel=cupilot_hook_1"}),
              HasSubstr("in no file of its own"));
}

// A literal stays one, whatever it holds.
TEST_F(VariantObjectTest, LiteralsAreNoAttributes) {
  const std::string text =
      "__device__ inline void act(const void*) {}\n"
      "static const char* const a1 = \"__attribute__((device\"; static const int a2 = '))';\n"
      "static const char* const a3 = \"; inline void act(const char* c) { system(c); } //\";\n"
      "__global__ void h(float* out) { act(\"true\"); out[0] = a2 + (a1 != a3); }\n";
  EXPECT_EQ(Compiled(kHead + Within(text), {"--cupilot-candidate"}), "");
}

// What the kernel's own functions call, variants may.
TEST_F(VariantObjectTest, WhatTheKernelCallsItsVariantsMay) {
  const std::string text = std::string(kHead) +
                           "__global__ void k(float* out) { out[0] = atof(\"1\"); }\n" +
                           Within("__global__ void h(float* out) { out[0] = atof(\"2\"); }\n");
  EXPECT_EQ(Compiled(text, {"--cupilot-candidate"}), "");
}

TEST_F(VariantObjectTest, WhatIsNoObjectIsSaid) {
  EXPECT_FALSE(WhyNotDeviceCode(folder_ / "nothing.o", VariantPlace::kCandidate));
  const std::string file = folder_.Write("text.o", "text\n");
  EXPECT_EQ(*WhyNotDeviceCode(file, VariantPlace::kCandidate), "it is no object of machine code");
  EXPECT_EQ(*WhyNotDeviceCode(file, VariantPlace::kSwapped), "");
}

}  // namespace
}  // namespace cupilot::nvcc
