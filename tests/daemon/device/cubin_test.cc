#include "device/cuda/cubin.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/file.h"
#include "device/describe.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::device {
namespace {

using cuda::QualifiedName;
using cuda::WithoutUnnamedNamespaces;

TEST(Cubin, NamesAreThoseOfTheSource) {
  EXPECT_EQ(QualifiedName("_ZN3app4blurEPKfPfii"), "app::blur");
  EXPECT_EQ(QualifiedName("plain"), "plain") << "extern \"C\"";
  EXPECT_EQ(QualifiedName("_Z4blurIfEvPT_"), "blur<float>") << "without its return type";
  EXPECT_EQ(QualifiedName("_ZN3app36_GLOBAL__N__9aeac72e_4_a_cu_ca373da92k1EPf"), "app::k1");
  EXPECT_EQ(QualifiedName("_ZN34_INTERNAL_9aeac72e_4_a_cu_ca373da93app7weightsE"), "app::weights");
  EXPECT_EQ(QualifiedName("_ZN12_GLOBAL__N_12k1EPf"), "k1");
}

TEST(Cubin, UnnamedNamespacesDoNotCount) {
  EXPECT_EQ(WithoutUnnamedNamespaces("app::(anonymous namespace)::blur"), "app::blur");
  EXPECT_EQ(WithoutUnnamedNamespaces("blur"), "blur");
}

TEST(Cubin, VariablesAreThoseThatItDefines) {
  constexpr const char* kNvcc = "/usr/local/cuda/bin/nvcc";
  if (!base::FileExists(kNvcc)) GTEST_SKIP() << "no CUDA toolkit here";
  const test::TemporaryFolder folder;
  const std::string source = folder.Write("a.cu",
                                          "namespace app { __constant__ float weights[16]; }\n"
                                          "__device__ int counter;\n"
                                          "__global__ void k(float* x) {\n"
                                          "  x[0] = app::weights[threadIdx.x];\n"
                                          "  atomicAdd(&counter, 1);\n}\n");
  const std::string cubin = folder / "a.cubin";
  const std::string command = std::string(kNvcc) + " -cubin -arch=sm_90 " + source + " -o " + cubin;
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto bytes = base::ReadFile(cubin);
  ASSERT_TRUE(bytes);
  const auto variables = cuda::VariablesOf(*bytes);
  ASSERT_TRUE(variables) << variables.error().message;
  std::map<std::string, cuda::CubinVariable> by_name;
  for (const cuda::CubinVariable& variable : *variables) by_name[variable.name] = variable;
  ASSERT_EQ(by_name.size(), 2u);
  EXPECT_TRUE(by_name["app::weights"].constant);
  EXPECT_EQ(by_name["app::weights"].bytes, 64);
  EXPECT_FALSE(by_name["counter"].constant);
  EXPECT_EQ(by_name["counter"].bytes, 4);
}

TEST(Cubin, AnyBytesMayCome) {
  EXPECT_FALSE(cuda::VariablesOf(""));
  EXPECT_FALSE(cuda::VariablesOf(std::string(200, 'x')));
  std::string cut("\177ELF\2\1\1", 7);
  cut.resize(63);
  EXPECT_FALSE(cuda::VariablesOf(cut));
  // A header that promises sections beyond the end.
  cut.resize(64);
  cut[0x28] = 0x7f;  // where its sections begin
  cut[0x3c] = 3;     // how many there are
  EXPECT_FALSE(cuda::VariablesOf(cut));
}

TEST(Describe, GpusAreNamedByTheirIndex) {
  EXPECT_EQ(CudaIndexOf("cuda:0"), 0);
  EXPECT_EQ(CudaIndexOf("cuda:12"), 12);
  for (const char* other : {"host", "cuda:", "cuda:x", "cuda:1x", "cuda"}) {
    EXPECT_EQ(CudaIndexOf(other), -1) << other;
  }
  EXPECT_EQ(DescribeDevice("gpu").error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_TRUE(DescribeDevice("host"));
}

}  // namespace
}  // namespace cupilot::device
