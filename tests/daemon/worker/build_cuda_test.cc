#include "worker/build_cuda.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "base/compiler_program.h"
#include "base/file.h"
#include "source/swap/device_text.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kKernel =
    "#include <cuda_runtime.h>\n"
    "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";

TEST(DeviceOptions, AreThoseThatChangeDeviceCode) {
  EXPECT_THAT(DeviceOptions({"-O3", "-std=c++17", "-fPIC", "-use_fast_math", "-maxrregcount=64",
                             "-gencode=arch=compute_90,code=sm_90", "toolkit=13.0"}),
              ElementsAre("-std=c++17", "-use_fast_math", "-maxrregcount=64"));
}

class BuildCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (nvcc_.empty()) GTEST_SKIP() << "no CUDA toolkit here";
    request_.device = "cuda:0";
    request_.target = "sm_90";
    request_.text = kKernel;
    request_.cache_folder = folder_ / "cubins";
    request_.command.directory = folder_.path();
    request_.command.source = folder_ / "twice.cu";
    SetArchitecture("-arch=sm_90");
  }
  void SetArchitecture(const std::string& option) {
    request_.command.arguments = {nvcc_, "-std=c++17", option, "-c", "twice.cu"};
  }

  const std::string nvcc_ = base::FindNvcc();
  test::TemporaryFolder folder_;
  protocol::BuildRequest request_;
};

TEST_F(BuildCudaTest, NvrtcMakesACubinOnce) {
  const auto first = BuildCuda(request_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->failed) << first->log;
  EXPECT_THAT(first->toolchain, HasSubstr("nvrtc"));
  EXPECT_EQ(first->target, "compute_90,sm_90");
  ASSERT_EQ(first->text_hashes.size(), 1u);
  EXPECT_EQ(first->text_hashes[0].first, "twice");
  const auto second = BuildCuda(request_);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->cached);
  EXPECT_EQ(second->artifact, first->artifact);
  EXPECT_EQ(second->text_hashes, first->text_hashes);
}

// Nobody waits for the disk when they are written.
TEST_F(BuildCudaTest, WhatAPowerCutLeftOfACubinIsMadeAgain) {
  const auto first = BuildCuda(request_);
  ASSERT_TRUE(first && !first->failed);
  const auto cubin = base::ReadFile(first->artifact);
  ASSERT_TRUE(cubin);
  const std::string facts = first->artifact.substr(0, first->artifact.size() - 6) + ".json";
  for (const auto& [file, left] : {std::pair<std::string, std::string>{first->artifact, ""},
                                   {first->artifact, std::string(cubin->size(), '\0')},
                                   {facts, ""},
                                   {facts, "[]"}}) {
    ASSERT_TRUE(base::WriteFileUnsynced(file, left));
    const auto again = BuildCuda(request_);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_FALSE(again->cached) << file;
    EXPECT_EQ(again->text_hashes, first->text_hashes);
    EXPECT_EQ(base::ReadFile(first->artifact).value_or(""), *cubin);
    EXPECT_TRUE(BuildCuda(request_)->cached);
  }
}

TEST_F(BuildCudaTest, WhatTakesMoreOfTheProcessorThanItMayEndsTheProcess) {
  request_.cpu_seconds = 60;
  const auto built = BuildCuda(request_);
  ASSERT_TRUE(built && !built->failed);
  EXPECT_GT(built->cpu_seconds, 0);
  EXPECT_LT(built->cpu_seconds, 60);
  request_.text += "// other";
  request_.cpu_seconds = 1e-4;
  EXPECT_EXIT((void)BuildCuda(request_), ::testing::KilledBySignal(protocol::kStopSignal), "");
}

TEST_F(BuildCudaTest, WhatNvrtcLacksNvccBuilds) {
  // A header of the host's standard library that NVRTC has not.
  request_.text =
      std::string("#include <cmath>\n") + "__global__ void least(float* x) { x[0] = -INFINITY; }\n";
  const auto built = BuildCuda(request_);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_FALSE(built->failed) << built->log;
  EXPECT_THAT(built->toolchain, HasSubstr("nvcc"));
}

TEST_F(BuildCudaTest, NvccTakesTheLanguageThatTheProjectTakes) {
  request_.text =
      "template <class F> __device__ float apply(F f) { return f(2.0f); }\n"
      "__global__ void least(float* x) { x[0] = apply([] __device__(float v) { return v; }); }\n";
  request_.as_compiled = true;
  const auto without = BuildCuda(request_);
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_TRUE(without->failed) << "nvcc wants to be told";
  request_.command.arguments.insert(request_.command.arguments.begin() + 1, "--extended-lambda");
  const auto built = BuildCuda(request_);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_FALSE(built->failed) << built->log;
}

TEST_F(BuildCudaTest, WhatShipsIsBuiltByNvccOnRequest) {
  const auto fast = BuildCuda(request_);
  request_.as_compiled = true;
  const auto built = BuildCuda(request_);
  ASSERT_TRUE(fast && built);
  EXPECT_THAT(fast->toolchain, HasSubstr("nvrtc"));
  EXPECT_THAT(built->toolchain, HasSubstr("nvcc"));
  EXPECT_NE(built->artifact, fast->artifact);
  EXPECT_EQ(built->text_hashes, fast->text_hashes) << "most code is the same";
}

TEST_F(BuildCudaTest, WhatDoesNotCompileSaysWhy) {
  request_.text = "__global__ void broken(float* x) { x[0] = nothing; }\n";
  const auto built = BuildCuda(request_);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_TRUE(built->failed);
  EXPECT_THAT(built->log, HasSubstr("nothing"));
}

TEST_F(BuildCudaTest, CodeForTheDriverIsBuiltAsItWouldBeLoaded) {
  SetArchitecture("-arch=compute_80");
  const auto built = BuildCuda(request_);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_FALSE(built->failed) << built->log;
  EXPECT_EQ(built->target, "compute_80,sm_90");
}

// An object that is linked holds other code than one that is not; measured is what ships.
TEST_F(BuildCudaTest, RelocatableCodeIsBuiltAsTheObjectHasIt) {
  request_.text =
      "#include <cuda_runtime.h>\n"
      "__device__ __noinline__ float help(float x) { return x * 3 + 1; }\n"
      "__global__ void twice(float* x) { x[threadIdx.x] = help(x[threadIdx.x]) / x[0]; }\n";
  const auto whole = BuildCuda(request_);
  ASSERT_TRUE(whole) << whole.error().message;
  std::map<std::string, protocol::BuildReply> built;
  for (const char* flag : {"-dc", "-rdc=true", "--relocatable-device-code=true"}) {
    request_.command.arguments = {nvcc_, "-std=c++17", "-arch=sm_90", flag, "-c", "twice.cu"};
    const auto reply = BuildCuda(request_);
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_FALSE(reply->failed) << reply->log;
    built[flag] = *reply;
    EXPECT_EQ(reply->artifact, built.begin()->second.artifact);
  }
  const protocol::BuildReply& linked = built.begin()->second;
  EXPECT_NE(linked.artifact, whole->artifact);
  const auto cubin = base::ReadFile(linked.artifact);
  ASSERT_TRUE(cubin);
  Elf64_Ehdr header;
  ASSERT_GE(cubin->size(), sizeof header);
  std::memcpy(&header, cubin->data(), sizeof header);
  EXPECT_EQ(header.e_type, ET_EXEC) << "the driver loads it";
  // The object of the user's build.
  folder_.Write("twice.cu", request_.text + "void f(float* x) { twice<<<1, 32>>>(x); }\n");
  const std::string object = folder_ / "twice.o";
  const std::string command = std::string(nvcc_) + " -std=c++17 -arch=sm_90 -rdc=true -c " +
                              (folder_ / "twice.cu") + " -o " + object;
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto images = source::DeviceImagesOf(object);
  ASSERT_TRUE(images) << images.error().message;
  const auto hash_of = [](const protocol::BuildReply& reply) {
    std::string found;
    for (const auto& [name, hash] : reply.text_hashes) {
      if (name == "twice") found = hash;
    }
    return found;
  };
  EXPECT_EQ(source::HashIn(*images, 90, "_Z5twicePf"), hash_of(linked));
  EXPECT_NE(hash_of(linked), hash_of(*whole));
}

TEST_F(BuildCudaTest, ABuildWithoutCodeForTheGpuIsToldSo) {
  SetArchitecture("-gencode=arch=compute_80,code=sm_80");
  const auto built = BuildCuda(request_);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, base::ErrorCode::kUnavailable);
  EXPECT_THAT(built.error().message, HasSubstr("sm_90"));
}

}  // namespace
}  // namespace cupilot::worker
