#include "worker/compare_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/compiler_program.h"
#include "base/file.h"
#include "source/swap/device_text.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kUnit = R"(
#include "scale.h"
__device__ float offset();
__global__ void other(float* x) { x[1] = 2; }
namespace app { template <class T> __global__ void scale(T* x) { x[threadIdx.x] *= SCALE; } }
template __global__ void app::scale<float>(float*);
)";
constexpr const char* kOurs = R"(
namespace app { __global__ void scale(float* x) { x[threadIdx.x] *= 3; } }
)";

class CompareObjectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (nvcc_.empty()) GTEST_SKIP() << "no CUDA toolkit here";
    folder_.Write("unit.cu", kUnit);
    protocol::BuildRequest& original = request_.original;
    original.device = "cuda:0";
    original.target = "sm_90";
    original.text = kOurs;
    original.as_compiled = true;
    original.cache_folder = folder_ / "cubins";
    original.command.directory = folder_.path();
    original.command.source = folder_ / "unit.cu";
    request_.object = folder_ / "unit.o";
    request_.kernel = "app::scale";
    request_.signature = "_ZN3app5scaleIfEEvPT_";
  }

  // The user's build.
  void Build(const std::vector<std::string>& options, const std::string& number) {
    folder_.Write("scale.h", "#define SCALE " + number + "\n");
    std::vector<std::string>& words = request_.original.command.arguments;
    words = {nvcc_, "-std=c++17"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"-c", "unit.cu", "-o", "unit.o"});
    std::string line = "cd " + folder_.path() + " &&";
    for (const std::string& word : words) line += " " + word;
    ASSERT_EQ(std::system(line.c_str()), 0) << line;
  }

  protocol::CompareObjectReply Compare() {
    const auto reply = CompareObject(request_);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply.value_or(protocol::CompareObjectReply());
  }
  void ExpectEqual() {
    const protocol::CompareObjectReply reply = Compare();
    EXPECT_EQ(reply.difference, "");
    EXPECT_EQ(reply.not_compared, "");
    EXPECT_EQ(reply.image, "");
  }

  const std::string nvcc_ = base::FindNvcc();
  test::TemporaryFolder folder_;
  protocol::CompareObjectRequest request_;
};

TEST_F(CompareObjectTest, TheInstanceInTheObjectIsOurKernel) {
  Build({"-arch=sm_90"}, "3");
  ExpectEqual();
  Build({"-arch=sm_90", "-rdc=true"}, "3");
  ExpectEqual();
  ExpectEqual();  // of what was kept
}

// What lies before them in the constant bank is part of the instructions.
TEST_F(CompareObjectTest, OtherConstantsBeforeOursMakeNoDifference) {
  constexpr const char* kFilter =
      "__constant__ float taps[4] = {1, 2, 3, 4};\n"
      "__global__ void filter(float* x) { x[threadIdx.x] *= taps[threadIdx.x & 3] + taps[1]; }\n";
  request_.kernel = "filter";
  request_.signature = "_Z6filterPf";
  request_.original.text = kFilter;
  const std::string before =
      "#include \"scale.h\"\n__constant__ char mode = SCALE;\n"
      "static __constant__ float others[7];\n";
  folder_.Write("unit.cu", before + kFilter + "__constant__ int last;\n");
  Build({"-arch=sm_90"}, "3");
  ExpectEqual();
  std::string edited = kFilter;
  edited.replace(edited.find("{1, 2"), 5, "{1, 5");
  folder_.Write("unit.cu", before + edited);
  Build({"-arch=sm_90"}, "3");
  EXPECT_EQ(Compare().difference, "reads other values of the table 'taps'");
}

TEST_F(CompareObjectTest, AnotherNumberIsAnotherKernelThatCanBeLoaded) {
  for (const char* mode : {"-rdc=false", "-rdc=true"}) {
    Build({"-arch=sm_90", mode}, "4");
    const protocol::CompareObjectReply reply = Compare();
    EXPECT_THAT(reply.difference, HasSubstr("instructions"));
    EXPECT_EQ(reply.entry, "_ZN3app5scaleIfEEvPT_");
    const auto image = base::ReadFile(reply.image);
    ASSERT_TRUE(image) << reply.not_loadable;
    const auto kernels = source::TextHashesOfCubin(std::as_bytes(std::span(*image)));
    ASSERT_TRUE(kernels);
    EXPECT_GE(kernels->size(), 2u) << "the whole of the object's image";
  }
}

TEST_F(CompareObjectTest, CodeThatNeedsOtherObjectsCannotBeLoaded) {
  Build({"-arch=sm_90", "-rdc=true"}, "offset()");
  const protocol::CompareObjectReply reply = Compare();
  EXPECT_NE(reply.difference, "");
  EXPECT_EQ(reply.image, "");
  EXPECT_THAT(reply.not_loadable, HasSubstr("offset"));
}

// The driver would compile it: both are compiled by the toolkit's assembler.
TEST_F(CompareObjectTest, PtxIsAssembled) {
  Build({"-gencode=arch=compute_80,code=compute_80"}, "3");
  ExpectEqual();
  Build({"-gencode=arch=compute_80,code=compute_80"}, "4");
  EXPECT_THAT(Compare().difference, HasSubstr("instructions"));
}

TEST_F(CompareObjectTest, WhatCannotBeComparedIsSaidWithWhatToDo) {
  Build({"-arch=sm_90"}, "3");
  request_.signature = "_Z5thirdPf";
  EXPECT_THAT(Compare().not_compared, HasSubstr("no code of it for sm_90"));
  request_.object = folder_.Write("text.o", "no object");
  EXPECT_THAT(Compare().not_compared, HasSubstr("not a 64-bit ELF file"));
  request_.original.text = "__global__ void scale(";
  EXPECT_THAT(Compare().not_compared, HasSubstr("does not compile"));
  request_.object = folder_ / "missing.o";
  EXPECT_EQ(CompareObject(request_).error().code, base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace cupilot::worker
