// Kernels of nvcc's that use headers which the host device has not: they are parsed with those of
// the toolkit that compiles them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "source/closure_options.h"
#include "source/rewrite/techniques.h"
#include "source/syntax/query.h"
#include "source/twin.h"
#include "source/whitelist.h"
#include "tests/daemon/source/scan_fixture.h"
#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kToolkit = "/usr/local/cuda";

constexpr const char* kWithLimits = R"(
#include <cuda/std/limits>
// cupilot: tune
// cupilot: workload w grid=(64) block=(128) n=8192 in=uniform(-1,1)[n] out=[n]
__global__ void finite(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] < cuda::std::numeric_limits<float>::max() ? in[i] * 2.0f : 0.0f;
}
)";

constexpr const char* kWithGroups = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// cupilot: tune
// cupilot: workload w grid=(64) block=(128) n=8192 in=uniform(-1,1)[n] out=[64]
__global__ void sums(const float* in, float* out, int n) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  __shared__ float parts[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = cg::reduce(warp, i < n ? in[i] : 0.0f, cg::plus<float>());
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = sum;
  block.sync();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) sum += parts[w];
    out[blockIdx.x] = sum;
  }
}
)";

class ToolkitHeadersTest : public ScanFixture {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() { DropSourceTreeToolkit(); }

  void SetUp() override {
    ScanFixture::SetUp();
    if (!base::FileExists(std::string(kToolkit) + "/bin/nvcc")) {
      GTEST_SKIP() << "no CUDA toolkit here";
    }
  }

  records::Kernel KernelOfNvcc(const std::string& text) const {
    Write("main.cu", text);
    protocol::ScanRequest request;
    request.command = Command({"-O3", "-std=c++17", "-arch=sm_90"});
    request.command.arguments[0] = std::string(kToolkit) + "/bin/nvcc";
    const auto reply = Scan(request);
    EXPECT_TRUE(reply) << reply.error().message;
    if (!reply || reply->kernels.size() != 1) return {};
    EXPECT_EQ(reply->kernels[0].declined, "");
    return reply->kernels[0];
  }

  static protocol::RewriteReply RewriteWith(const records::Kernel& kernel,
                                            const std::string& technique,
                                            const records::Json& parameters) {
    protocol::RewriteRequest request;
    request.kernel = kernel;
    request.workload = kernel.cases.front();
    request.device = "cuda";
    records::StrategyStep step;
    step.technique = technique;
    step.parameters = parameters;
    request.strategy.steps.push_back(step);
    auto reply = Rewrite(request);
    EXPECT_TRUE(reply) << technique << ": " << reply.error().message;
    return reply ? std::move(*reply) : protocol::RewriteReply{};
  }
};

TEST_F(ToolkitHeadersTest, AKernelThatNamesWhatOnlyTheToolkitHasIsRewritten) {
  const records::Kernel kernel = KernelOfNvcc(kWithLimits);
  ASSERT_EQ(kernel.cases.size(), 1u);
  EXPECT_EQ(kernel.toolkit_include.rfind(kToolkit, 0), 0u);
  const std::vector<std::pair<std::string, records::Json>> steps = {
      {"block_size", {{"x", 256}, {"y", 1}}},
      {"thread_coarsening", {{"form", "sequential"}, {"x", 4}}}};
  for (const auto& [technique, parameters] : steps) {
    SCOPED_TRACE(technique);
    const protocol::RewriteReply reply = RewriteWith(kernel, technique, parameters);
    ASSERT_FALSE(reply.declined) << reply.reason;
    EXPECT_THAT(reply.variant.source, HasSubstr("numeric_limits"));
    const auto check = CheckVariant({kernel, reply.variant});
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_TRUE(check->passed) << check->detail;
  }
}

TEST_F(ToolkitHeadersTest, NoTechniqueDeclinesForAMissingHeader) {
  const records::Kernel kernel = KernelOfNvcc(kWithGroups);
  ASSERT_EQ(kernel.cases.size(), 1u);
  const auto parsed = ParseClosure(kernel, kernel.closure_source);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(FirstError(*parsed), "");
  const auto opinions = Propose({kernel, kernel.cases.front(), "cuda"});
  ASSERT_TRUE(opinions) << opinions.error().message;
  for (const protocol::Proposal& opinion : opinions->proposals) {
    EXPECT_THAT(opinion.reason, Not(HasSubstr("file not found"))) << opinion.technique;
    EXPECT_THAT(opinion.reason, Not(HasSubstr("parse"))) << opinion.technique;
    if (!opinion.applies || opinion.parameters.empty()) continue;
    const protocol::RewriteReply reply =
        RewriteWith(kernel, opinion.technique, opinion.parameters.front());
    if (reply.declined) continue;
    const auto check = CheckVariant({kernel, reply.variant});
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_TRUE(check->passed) << opinion.technique << ": " << check->detail;
  }
  const auto twin = Twin({kernel});
  ASSERT_TRUE(twin) << twin.error().message;
  EXPECT_THAT(twin->reason, Not(HasSubstr("does not parse")));
}

TEST_F(ToolkitHeadersTest, LibrariesOfTheToolkitAreParsed) {
  const std::vector<std::string> texts = {
      "#include <cuda/atomic>\n"
      "// cupilot: tune\n// cupilot: workload w grid=(8) block=(32) x=integers(0,9)[1]\n"
      "__global__ void k(int* x) {\n"
      "  cuda::atomic_ref<int, cuda::thread_scope_device> total(*x);\n"
      "  total.fetch_add(1, cuda::memory_order_relaxed);\n}\n",
      "#include <mma.h>\nusing namespace nvcuda;\n"
      "// cupilot: tune\n// cupilot: workload w grid=(1) block=(32) x=normal[256]\n"
      "__global__ void k(float* x) {\n"
      "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;\n"
      "  wmma::load_matrix_sync(sum, x, 16, wmma::mem_row_major);\n"
      "  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;\n"
      "  wmma::store_matrix_sync(x, sum, 16, wmma::mem_row_major);\n}\n"};
  for (const std::string& text : texts) {
    SCOPED_TRACE(text.substr(0, text.find('\n')));
    const records::Kernel kernel = KernelOfNvcc(text);
    const auto parsed = ParseClosure(kernel, kernel.closure_source);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(FirstError(*parsed), "");
    EXPECT_NE(FindDefinition(parsed->tree, "k"), kNone);
  }
}

TEST_F(ToolkitHeadersTest, WhatParsesWithTheHostsHeadersIsParsedWithThem) {
  records::Kernel kernel = KernelOfNvcc(
      "// cupilot: tune\n// cupilot: workload w grid=(1) block=(32) x=normal[32]\n"
      "__global__ void k(float* x) { x[threadIdx.x] *= 2; }\n");
  // A toolkit that is gone would not be missed.
  kernel.toolkit_include = folder_ + "/nothing";
  const auto parsed = ParseClosure(kernel, kernel.closure_source);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(FirstError(*parsed), "");
  EXPECT_NE(FindDefinition(parsed->tree, kernel.name), kNone);
}

}  // namespace
}  // namespace cupilot::source
