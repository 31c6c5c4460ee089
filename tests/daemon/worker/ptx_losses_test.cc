#include "worker/ptx_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/compiler_program.h"
#include "tests/support/temporary_folder.h"
#include "worker/build_cuda.h"

namespace cupilot::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Losses LossesIn(const std::string& instructions) {
  const auto found = LossesOf(".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n" + instructions +
                              "\n\tret;\n\n}\n");
  return found.contains("k") ? found.at("k") : Losses{};
}

TEST(PtxLosses, ExactArithmeticHasNone) {
  EXPECT_THAT(LossesIn("add.f32 \t%f3, %f1, %f2;\n\tdiv.rn.f32 \t%f4, %f3, %f1;\n"
                       "\tsqrt.rn.f32 %f5, %f4;\n\tcvt.rn.f32.s32 %f6, %r1;\n"
                       "\tcvt.f32.f16 %f7, %rs1;\n\tcvt.rn.f32.f64 %f8, %fd1;\n"),
              IsEmpty());
}

// As libdevice's functions have them.
TEST(PtxLosses, WhatExactFunctionsConsistOfProvesNothing) {
  EXPECT_THAT(LossesIn("ex2.approx.ftz.f32 %f3, %f2;\nrcp.approx.ftz.f32 %f4, %f3;\n"
                       "rsqrt.approx.f32 %f5, %f4;\nlg2.approx.f32 %f6, %f5;\n"
                       "div.approx.f32 %f7, %f6, %f5;\nrcp.approx.ftz.f64 %fd1, %fd2;\n"),
              IsEmpty());
}

TEST(PtxLosses, ApproximationsAreFound) {
  EXPECT_THAT(LossesIn("sin.approx.f32 %f3, %f2;"),
              ElementsAre(Pair("approximate", "sin.approx.f32")));
  EXPECT_THAT(LossesIn("@%p1 rcp.approx.f32 %f3, %f2;"),
              ElementsAre(Pair("approximate", "rcp.approx.f32")));
  EXPECT_THAT(LossesIn("{ div.full.f32 %f3, %f2, %f1; }"),
              ElementsAre(Pair("approximate", "div.full.f32")));
  EXPECT_THAT(LossesIn("fma.rn.ftz.f32 %f3, %f2, %f1, %f0;"),
              ElementsAre(Pair("ftz", "fma.rn.ftz.f32")));
}

TEST(PtxLosses, FormatsThatResultsAreRoundedToAreFound) {
  const auto format = [](const std::string& instruction) {
    const Losses losses = LossesIn(instruction + " %a, %b;");
    return losses.size() == 1 ? losses.begin()->first : "";
  };
  EXPECT_EQ(format("cvt.rn.f16.f32"), "f16");
  EXPECT_EQ(format("cvt.rn.bf16x2.f32"), "bf16");
  EXPECT_EQ(format("cvt.rna.tf32.f32"), "tf32");
  EXPECT_EQ(format("cvt.rn.satfinite.e4m3x2.f32"), "e4m3");
  EXPECT_EQ(format("cvt.rn.f16.s32"), "f16");
  EXPECT_EQ(format("fma.rn.f16x2"), "f16");
  EXPECT_EQ(format("add.rn.bf16"), "bf16");
  EXPECT_EQ(format("red.global.add.noftz.f16x2"), "f16");
  EXPECT_EQ(format("wmma.mma.sync.aligned.row.row.m16n16k8.f32.tf32.tf32.f32"), "tf32");
  EXPECT_EQ(format("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"), "f16");
  // Halves that are there are multiplied exactly.
  EXPECT_EQ(format("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), "");
  EXPECT_EQ(format("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32"), "");
  for (const char* exact : {"abs.f16", "neg.f16x2", "max.f16", "setp.lt.f16", "set.eq.f16.f16",
                            "cvt.rni.f16.f16", "wmma.load.a.sync.aligned.row.m16n16k16.f16"}) {
    EXPECT_EQ(format(exact), "") << exact;
  }
}

// The headers of halves compute them so, and round what comes out.
TEST(PtxLosses, BesideAShortFormatApproximationsProveNothing) {
  EXPECT_THAT(LossesIn("tanh.approx.f32 %f3, %f2; cvt.rn.bf16.f32 %rs1, %f3;"),
              ElementsAre(Pair("bf16", "cvt.rn.bf16.f32")));
}

TEST(PtxLosses, AKernelHasThoseOfTheFunctionsThatItCalls) {
  const std::string ptx =
      "//\n.version 9.0\n.target sm_90\n.file 1 \"sin.approx.f32 .entry \"\n"
      ".func  (.param .b32 func_retval0) helper(\n\t.param .b32 helper_param_0\n)\n;\n"
      ".func  (.param .b32 func_retval0) helper(\n\t.param .b32 helper_param_0\n)\n.noreturn\n{\n"
      "\tcos.approx.f32 \t%f2, %f1;\n\tret;\n}\n"
      "\t// .globl\tuses sin.approx.f32\n.visible .entry uses(\n\t.param .u64 uses_param_0\n)\n"
      ".maxntid 128, 1, 1\n{\n\t{ // callseq 0, 0\n\tcall.uni (retval0), \n\thelper, \n\t(\n"
      "\tparam0\n\t);\n\t} // callseq 0\n\tret;\n}\n"
      ".visible .entry does_not(\n)\n{\n\tret;\n}\n";
  EXPECT_THAT(LossesOf(ptx),
              ElementsAre(Pair("uses", ElementsAre(Pair("approximate", "cos.approx.f32")))));
}

TEST(PtxLosses, AnyTextMayCome) {
  for (const char* text : {"", ".entry", ".func (", ".entry k( {", ".entry k() { call", "/*", "\"",
                           ".entry k() { a. .b .. : }"}) {
    EXPECT_THAT(LossesOf(text), IsEmpty()) << text;
  }
}

class BuiltLosses : public ::testing::Test {
 protected:
  void SetUp() override {
    if (nvcc_.empty()) GTEST_SKIP() << "no CUDA toolkit here";
  }
  using Found = std::vector<std::pair<std::string, std::string>>;
  Found LossesOfBuild(const std::string& text, bool nvcc, const std::string& option = "") {
    protocol::BuildRequest request;
    request.device = "cuda:0";
    request.target = "sm_90";
    request.text = text;
    request.cache_folder = folder_ / "cubins";
    request.command.directory = folder_.path();
    request.command.source = folder_ / "a.cu";
    request.command.arguments = {nvcc_, "-std=c++17", "-arch=sm_90", "-c", "a.cu"};
    if (!option.empty()) request.command.arguments.push_back(option);
    request.as_compiled = nvcc;
    const auto built = BuildCuda(request);
    EXPECT_TRUE(built && !built->failed) << (built ? built->log : built.error().message);
    return built ? built->losses : Found{};
  }

  const std::string nvcc_ = base::FindNvcc();
  test::TemporaryFolder folder_;
};

// All that a source may call, of this toolkit.
TEST_F(BuiltLosses, ExactFunctionsHaveNone) {
  std::string text = "#include <cuda_runtime.h>\n";
  auto add = [&, i = 0](const std::string& type, const std::string& value) mutable {
    text += "__global__ void k" + std::to_string(i++) + "(const " + type + "* x, " + type +
            "* y, int n) {\n  const " + type + " a = x[0], b = x[1];\n  y[0] = " + value + ";\n}\n";
  };
  for (const char* name :
       {"sqrt",  "rsqrt",  "exp",     "exp2",          "exp10",      "expm1",        "log",
        "log2",  "log10",  "log1p",   "sin",           "cos",        "tan",          "sinpi",
        "cospi", "asin",   "acos",    "atan",          "sinh",       "cosh",         "tanh",
        "asinh", "acosh",  "atanh",   "cbrt",          "rcbrt",      "erf",          "erfc",
        "erfcx", "erfinv", "erfcinv", "normcdf",       "tgamma",     "lgamma",       "j0",
        "j1",    "y0",     "y1",      "cyl_bessel_i0", "normcdfinv", "cyl_bessel_i1"}) {
    add("float", std::string(name) + "f(a)");
    add("double", std::string(name) + "(a)");
  }
  for (const char* name : {"pow", "atan2", "hypot", "rhypot", "fmod", "remainder", "fdim"}) {
    add("float", std::string(name) + "f(a, b)");
    add("double", std::string(name) + "(a, b)");
  }
  for (const char* value : {"a / b", "1 / a", "__frcp_rn(a)", "__fsqrt_rn(a)", "__frsqrt_rn(a)",
                            "__fdiv_rn(a, b)", "jnf(n, a)", "ynf(n, a)", "powf(a, n)",
                            "norm3df(a, b, a)", "rnorm3df(a, b, a)", "__saturatef(a)"}) {
    add("float", value);
  }
  EXPECT_THAT(LossesOfBuild(text, false), IsEmpty());
}

TEST_F(BuiltLosses, BothCompilersTellTheSame) {
  const std::string text =
      "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n"
      "namespace app {\n"
      "__device__ __noinline__ float help(float x) { return __sinf(x); }\n"
      "__global__ void exact(const float* x, float* y) { y[0] = sinf(x[0]) / x[1]; }\n"
      "__global__ void fast(const float* x, float* y) { y[0] = help(x[0]); }\n"
      "__global__ void rounds(const float* x, float* y) {\n"
      "  y[0] = __half2float(__float2half(x[0]));\n}\n}\n";
  for (const bool nvcc : {false, true}) {
    EXPECT_THAT(LossesOfBuild(text, nvcc),
                ElementsAre(Pair("app::fast", "approximate sin.approx.f32"),
                            Pair("app::rounds", "f16 cvt.rn.f16.f32")))
        << nvcc;
  }
}

// Then it is the user's wish.
TEST_F(BuiltLosses, ACompileThatAsksForFastArithmeticHasNone) {
  const std::string text = "__global__ void k(float* x) { x[0] = sinf(x[0]) / x[1]; }\n";
  EXPECT_THAT(LossesOfBuild(text, false, "--use_fast_math"), IsEmpty());
}

}  // namespace
}  // namespace cupilot::worker
