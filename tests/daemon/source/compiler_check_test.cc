// The text that is tuned is the one that the user's compiler translates, or the kernel is declined.
#include "source/compiler_check.h"

#include <gmock/gmock.h>

#include "scan_fixture.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"
#include "tests/support/fake_nvcc.h"

namespace cupilot::source {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class CompilerCheckTest : public ScanFixture {
 protected:
  // As a worker scans: with what the compiler says.
  protocol::ScanReply Ask(const std::string& text, const std::string& options = "",
                          bool device = false) const {
    Write("main.cu", text);
    test::WriteFakeNvcc(folder_ + "/toolkit/bin/nvcc",
                        options + " -D__CUDACC__ -D__NVCC__ -isystem " + folder_ +
                            "/toolkit/include -include cuda_runtime.h",
                        device);
    protocol::ScanRequest request;
    request.command = Command();
    auto answer = AskCompiler(request.command);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    if (!answer) return {};
    request.command.setup = answer->setup;
    request.passes = answer->passes;
    request.compiled = Summarise(answer->passes);
    request.entered = answer->files;
    auto reply = Scan(request);
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return reply ? std::move(*reply) : protocol::ScanReply{};
  }
  records::Kernel One(const std::string& text, const std::string& options = "",
                      bool device = false) const {
    const protocol::ScanReply reply = Ask(text, options, device);
    EXPECT_EQ(reply.kernels.size(), 1u);
    return reply.kernels.empty() ? records::Kernel{} : reply.kernels[0];
  }
};

constexpr const char* kKernel =
    "// cupilot: tune\n"
    "// cupilot: workload w grid=1 block=32 out=[32]\n"
    "__global__ void __launch_bounds__(32) k(int* out) { out[threadIdx.x] = GAIN; }\n";

TEST_F(CompilerCheckTest, MacrosAreTheCompilers) {
  struct Row {
    const char* condition;
    const char* options;
  };
  const Row rows[] = {
      {"defined(__OPTIMIZE__)", "-O3"},
      {"!defined(__OPTIMIZE__)", "-O0"},
      {"defined(_OPENMP)", "-fopenmp"},
      {"defined(__AVX2__)", "-march=x86-64-v3"},
      {"!defined(__AVX2__)", "-march=x86-64"},
      {"defined(__FAST_MATH__)", "-ffast-math"},
      {"!defined(__clang__)", ""},
      {"__GNUC__ < 4 || __GNUC__ > 4", ""},
      {"defined(__CUDACC_RDC__)", "-D__CUDACC_RDC__"},
      {"!defined(__CUDA__)", ""},
  };
  for (const Row& row : rows) {
    const records::Kernel kernel =
        One("#if " + std::string(row.condition) +
                "\n#define GAIN 3\n#else\n#define GAIN 2\n#endif\n" + kKernel,
            row.options);
    EXPECT_EQ(kernel.declined, "") << row.condition;
    EXPECT_THAT(kernel.closure_source, HasSubstr("= 3")) << row.condition;
  }
}

TEST_F(CompilerCheckTest, WhatOnlyTheCompilerKnowsIsNamed) {
  const records::Kernel kernel =
      One("#if __has_builtin(__builtin_ia32_pause) && !__has_builtin(__builtin_rotateleft32)\n"
          "#define GAIN 3\n#else\n#define GAIN 2\n#endif\n" +
          std::string(kKernel));
  EXPECT_THAT(kernel.declined, AllOf(HasSubstr("the compiler reads '3' where cuPilot reads '2'"),
                                     HasSubstr("main.cu:8")));
}

TEST_F(CompilerCheckTest, HeadersOfMacrosAloneAreTracked) {
  Write("cfg.h", "#define GAIN 4\n");
  const protocol::ScanReply reply = Ask("#include \"cfg.h\"\n" + std::string(kKernel));
  EXPECT_THAT(reply.files, Contains(folder_ + "/cfg.h"));
  EXPECT_FALSE(reply.compiled.empty());
}

TEST_F(CompilerCheckTest, AnArchitectureThatReadsAnotherTextIsNamed) {
  const std::string text = "#ifdef __CUDA_ARCH__\n#define GAIN 3\n#else\n#define GAIN 2\n#endif\n" +
                           std::string(kKernel);
  EXPECT_THAT(One(text, "", true).declined,
              AllOf(HasSubstr("for __CUDA_ARCH__ 900"), HasSubstr("depends on __CUDA_ARCH__")));
  const std::string elsewhere =
      "#define GAIN 2\n#ifdef __CUDA_ARCH__\nint other;\n#else\nlong other;\n#endif\n" +
      std::string(kKernel);
  EXPECT_EQ(One(elsewhere, "", true).declined, "");
}

TEST_F(CompilerCheckTest, WhatVariantsWouldFindBelowTheKernelIsNamed) {
  const std::string text =
      "__device__ int pick(long x) { return 1; }\n// cupilot: tune\n"
      "// cupilot: workload w grid=1 block=32 out=[32]\n"
      "__global__ void k(int* out) { out[threadIdx.x] = pick(2); }\n";
  EXPECT_EQ(One(text + "int other(int);\n").declined, "");
  EXPECT_THAT(One(text + "__device__ int pick(int x) { return 2; }\n").declined,
              HasSubstr("'pick' is declared once more below the kernel"));
  EXPECT_EQ(
      One("__device__ int pick(int x);\n" + text + "__device__ int pick(int x) { return 2; }\n")
          .declined,
      "");
}

TEST_F(CompilerCheckTest, WhatStandsUnderAPragmaIsNamed) {
  const std::string structure = "struct S { char c; int i; };\n";
  const std::string kernel =
      "// cupilot: tune\n// cupilot: workload w grid=1 block=32 out=[32]\n"
      "__global__ void k(int* out) { out[threadIdx.x] = sizeof(S); }\n";
  EXPECT_THAT(One("#pragma pack(push, 1)\n" + structure + "#pragma pack(pop)\n" + kernel).declined,
              HasSubstr("#pragma pack(push, 1)"));
  EXPECT_EQ(
      One("#pragma pack(push, 1)\nstruct T { int a; };\n#pragma pack(pop)\n" + structure + kernel)
          .declined,
      "");
}

TEST_F(CompilerCheckTest, ASourceThatAsksWhereItStandsIsLeftAlone) {
  EXPECT_THAT(
      One("#define GAIN 2\n#if __INCLUDE_LEVEL__ == 0\nint a;\n#endif\n" + std::string(kKernel))
          .declined,
      HasSubstr("__INCLUDE_LEVEL__ is another one"));
}

TEST_F(CompilerCheckTest, MacrosBelowTheKernelAreTakenBackForItsVariants) {
  const records::Kernel kernel = One("#define GAIN 2\n#define STEP 1\n" + std::string(kKernel) +
                                     "#undef STEP\n#define STEP 5\n#define out (out + 1)\n");
  EXPECT_EQ(kernel.declined, "");
  EXPECT_EQ(kernel.closure_macros, "#define GAIN 2\n#define STEP 1\n");
  EXPECT_THAT(kernel.macros_back, ::testing::ElementsAre("#define STEP 1", "#undef out"));
}

}  // namespace
}  // namespace cupilot::source
