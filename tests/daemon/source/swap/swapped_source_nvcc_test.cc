// Swapped sources under the real nvcc, which needs no GPU.
#include <gtest/gtest.h>

#include "swap_fixture.h"

namespace cupilot::source {
namespace {

class SwappedSourceNvcc : public SwapFolder {
 protected:
  void SetUp() override {
    if (!HasNvcc()) GTEST_SKIP() << "nvcc is not installed";
    SwapFolder::SetUp();
  }
};

TEST_F(SwappedSourceNvcc, CompilesForTwoArchitecturesTogether) {
  SwapRequest request;
  request.source = Write("scale.cu", kScaleSource);
  request.unit = "app/scale.cu.o";
  SwappedKernel kernel;
  kernel.kernel = ScaleKernel();
  kernel.variants = {
      {PlainVariant(),
       "compute_90,sm_90",
       {"NVIDIA H200"},
       "n % 2 == 0 && factor != 2 && disjoint(in, 4 * n, out, 4 * n)",
       "two a \"thread\"",
       1.5},
      {StepsVariant(), "compute_90,sm_90", {}, "n >= 1", "steps", 1.2},
      {PlainVariant(), "compute_80,sm_80", {}, "aligned(in, 16) && !is_null(out)", "two", 1.1}};
  request.kernels = {kernel};
  const auto swapped = WriteSwappedSource(request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  Write(swapped->file_name, swapped->text);
  const std::string gencode =
      " -gencode=arch=compute_80,code=[compute_80,sm_80] -gencode=arch=compute_90,code=sm_90";
  for (const char* options :
       {"-std=c++11", "-std=c++17 -rdc=true", "-std=c++20 --default-stream per-thread",
        "-O0 -Xcompiler -Wall,-Wextra,-Wshadow,-Werror"}) {
    EXPECT_EQ(
        Run("nvcc -c " + std::string(options) + gencode + Joined(HookDefinitions(swapped->hook)) +
            " " + swapped->file_name + " -o swapped.o"),
        0)
        << options << "\n"
        << Log();
    EXPECT_EQ(Log(), "") << options;
  }
}

}  // namespace
}  // namespace cupilot::source
