#include "worker/ptx_lacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/compiler_program.h"
#include "tests/support/temporary_folder.h"
#include "worker/build_cuda.h"

namespace cupilot::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PtxLacks, WhatNoInstructionHas) {
  EXPECT_THAT(LacksOf(".visible .entry k()\n{\n\tadd.f32 \t%f3, %f1, %f2;\n\tret;\n}\n"),
              ElementsAre("shared_memory", "synchronisation"));
  EXPECT_THAT(LacksOf("ld.shared.f32 %f1, [%r1];"), ElementsAre("synchronisation"));
  EXPECT_THAT(LacksOf(".extern .shared .align 16 .b8 memory[];"), ElementsAre("synchronisation"));
  for (const char* one :
       {"bar.sync 0;", "bar.warp.sync %r1;", "barrier.cta.sync.aligned 0;",
        "barrier.cluster.arrive;", "shfl.sync.down.b32 %r1|%p1, %r2, %r3, %r4, -1;",
        "vote.sync.all.pred %p2, %p1, -1;", "match.any.sync.b32 %r1, %r2, -1;",
        "redux.sync.add.s32 %r1, %r2, -1;", "vote.all.pred %p2, %p1;",
        "shfl.up.b32 %r1, %r2, 1;"}) {
    EXPECT_THAT(LacksOf(one), ElementsAre("shared_memory")) << one;
  }
}

TEST(PtxLacks, OfNothingNothingIsKnown) { EXPECT_THAT(LacksOf(""), IsEmpty()); }

// By the toolkit that is here, for a GPU that need not be.
class BuiltLacks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (nvcc_.empty()) GTEST_SKIP() << "no CUDA toolkit here";
  }
  std::vector<std::string> Of(const std::string& body) {
    protocol::BuildRequest request;
    request.device = "cuda:0";
    request.target = "sm_90";
    request.text =
        "extern __shared__ float dynamic[];\n__global__ void k(const float* in, float* out) {\n" +
        body + "\n}\n";
    request.cache_folder = folder_ / "cubins";
    request.command.directory = folder_.path();
    request.command.source = folder_ / "a.cu";
    request.command.arguments = {nvcc_, "-std=c++17", "-arch=sm_90", "-c", "a.cu"};
    const auto built = BuildCuda(request);
    if (!built || built->failed) {
      ADD_FAILURE() << (built ? built->log : built.error().message);
      return {};
    }
    return built->lacks;
  }

  const std::string nvcc_ = base::FindNvcc();
  test::TemporaryFolder folder_;
};

TEST_F(BuiltLacks, AreThoseOfTheBody) {
  EXPECT_THAT(Of("out[threadIdx.x] = 2.0f * in[threadIdx.x];"),
              ElementsAre("shared_memory", "synchronisation"));
  EXPECT_THAT(Of("out[threadIdx.x] = __shfl_xor_sync(~0u, in[threadIdx.x], 1);"),
              ElementsAre("shared_memory"));
  EXPECT_THAT(
      Of("__shared__ float own[32];\nown[threadIdx.x] = in[threadIdx.x];\n__syncthreads();\n"
         "out[threadIdx.x] = own[31 - threadIdx.x];"),
      IsEmpty());
  EXPECT_THAT(Of("dynamic[threadIdx.x] = in[threadIdx.x];\n__syncwarp();\n"
                 "out[threadIdx.x] = dynamic[31 - threadIdx.x];"),
              IsEmpty());
}

}  // namespace
}  // namespace cupilot::worker
