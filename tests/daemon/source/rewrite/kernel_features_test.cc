// Features of kernels of known kinds.
#include "source/rewrite/kernel_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/rewrite/techniques.h"
#include "source/rewrite/thread_growth.h"
#include "tests/daemon/source/scan_fixture.h"
#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

using records::FeatureAt;
using ::testing::DoubleNear;
using ::testing::Gt;

class KernelFeaturesTest : public ScanFixture {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() { DropSourceTreeToolkit(); }

  records::KernelFeatures Of(const std::string& text) const {
    const records::Kernel kernel = OneKernel(text);
    if (kernel.cases.empty()) {
      ADD_FAILURE() << "no case";
      return {};
    }
    const auto reply = Propose({kernel, kernel.cases.front(), "cuda"});
    EXPECT_TRUE(reply) << reply.error().message;
    EXPECT_TRUE(reply && reply->features);
    return reply && reply->features ? *reply->features : records::KernelFeatures{};
  }
};

constexpr const char* kScaled = R"(
// cupilot: tune
// cupilot: workload w grid=1000 block=256 a=2 n=255000 in=normal[n] out=[n]
__global__ void scaled(const float* in, float* out, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * in[i];
}
)";

// The same with all names changed.
constexpr const char* kRenamed = R"(
// cupilot: tune
// cupilot: workload w grid=1000 block=256 a=2 matrix=255000 atomic=normal[matrix] barrier=[matrix]
__global__ void stencil(const float* atomic, float* barrier, float a, int matrix) {
  int loop = blockIdx.x * blockDim.x + threadIdx.x;
  if (loop < matrix) barrier[loop] = a * atomic[loop];
}
)";

constexpr const char* kTransposed = R"(
// cupilot: tune
// cupilot: workload w grid=(8,8) block=(32,8) n=256 in=normal[n*n] out=[n*n]
__global__ void transposed(const double* in, double* out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += 8) out[x * n + y + r] = in[(y + r) * n + x];
}
)";

constexpr const char* kGathered = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 n=256 at=indices(0,256)[n] in=normal[n] out=[n]
__global__ void gathered(const int* at, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int from = at[i];
  out[i] = in[from];
}
)";

constexpr const char* kProduct = R"(
// cupilot: tune
// cupilot: workload w grid=(8,8) block=(16,16) n=128 a=normal[n*n] b=normal[n*n] c=[n*n]
__global__ void product(const float* a, const float* b, float* c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
)";

constexpr const char* kStencil = R"(
// cupilot: tune
// cupilot: workload w grid=(8,8) block=(32,8) w=256 h=64 in=normal[w*h] out=[w*h]
__global__ void smoothed(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - w] + in[i + w]);
}
)";

constexpr const char* kBlockSum = R"(
__device__ float twice(float value) { return value + value; }
// cupilot: tune
// cupilot: workload w grid=8 block=128 n=4096 in=normal[n] out=[8]
__global__ void block_sum(const float* in, float* out, int n) {
  __shared__ float part[128];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  part[threadIdx.x] = twice(sum);
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
)";

constexpr const char* kCounted = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 n=256 in=integers(0,63)[n] bins=inout constant(0)[64]
__global__ void counted(const int* in, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], 1);
}
)";

constexpr const char* kRoots = R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 n=256 in=uniform(1,2)[n] out=[n]
__global__ void roots(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  for (int k = 0; k < 4; ++k) v = sqrtf(v) / expf(v);
  out[i] = __shfl_down_sync(0xffffffffu, v, 1);
}
)";

TEST_F(KernelFeaturesTest, OfAMap) {
  const auto features = Of(kScaled);
  EXPECT_EQ(features.values[FeatureAt("coalesced_share")], 1);
  EXPECT_EQ(features.values[FeatureAt("write_share")], 0.5);
  EXPECT_EQ(features.values[FeatureAt("access_bytes")], 4);
  EXPECT_EQ(features.values[FeatureAt("operations_per_byte")], 1.0 / 8);
  EXPECT_EQ(features.values[FeatureAt("inputs")], 1);
  EXPECT_EQ(features.values[FeatureAt("outputs")], 1);
  EXPECT_EQ(features.values[FeatureAt("scalars")], 2);
  EXPECT_EQ(features.values[FeatureAt("single_share")], 1);
  EXPECT_EQ(features.values[FeatureAt("branches")], 1);
  EXPECT_EQ(features.values[FeatureAt("loops")], 0);
  EXPECT_EQ(features.values[FeatureAt("stencil_offsets")], 0);
  EXPECT_EQ(features.values[FeatureAt("block_dimensions")], 1);
  EXPECT_EQ(features.values[FeatureAt("block_threads")], 256);
  // Sizes are classes: 1000 blocks, 2 x 255000 x 4 bytes.
  EXPECT_EQ(features.values[FeatureAt("grid_blocks")], 1024);
  EXPECT_EQ(features.values[FeatureAt("case_bytes")], 1 << 21);
  EXPECT_FALSE(records::KnowsCode(features));
}

TEST_F(KernelFeaturesTest, NamesSayNothing) { EXPECT_EQ(Of(kRenamed), Of(kScaled)); }

TEST_F(KernelFeaturesTest, OfATranspose) {
  const auto features = Of(kTransposed);
  EXPECT_EQ(features.values[FeatureAt("coalesced_share")], 0.5);
  EXPECT_EQ(features.values[FeatureAt("strided_share")], 0.5);
  EXPECT_EQ(features.values[FeatureAt("double_share")], 1);
  EXPECT_EQ(features.values[FeatureAt("access_bytes")], 8);
  EXPECT_EQ(features.values[FeatureAt("block_dimensions")], 2);
  EXPECT_EQ(features.values[FeatureAt("constant_loops")], 1);
  EXPECT_EQ(features.values[FeatureAt("float_share")], 0);
}

TEST_F(KernelFeaturesTest, OfAGather) {
  const auto features = Of(kGathered);
  EXPECT_THAT(features.values[FeatureAt("indirect_share")], DoubleNear(1.0 / 3, 1e-12));
  EXPECT_THAT(features.values[FeatureAt("coalesced_share")], DoubleNear(2.0 / 3, 1e-12));
  EXPECT_EQ(features.values[FeatureAt("integer_data_share")], 1.0 / 3);
}

TEST_F(KernelFeaturesTest, OfAProduct) {
  const auto features = Of(kProduct);
  EXPECT_EQ(features.values[FeatureAt("reductions")], 1);
  EXPECT_EQ(features.values[FeatureAt("loop_depth")], 1);
  EXPECT_EQ(features.values[FeatureAt("constant_loops")], 0);
  // Both operands are shared along one axis each: 16 of the 17 accesses as written.
  EXPECT_THAT(features.values[FeatureAt("reuse_share")], DoubleNear(16.0 / 17, 1e-12));
  EXPECT_THAT(features.values[FeatureAt("uniform_share")], DoubleNear(8.0 / 17, 1e-12));
  EXPECT_THAT(features.values[FeatureAt("coalesced_share")], DoubleNear(9.0 / 17, 1e-12));
  EXPECT_EQ(features.values[FeatureAt("grid_dimensions")], 2);
}

TEST_F(KernelFeaturesTest, OfAStencil) {
  const auto features = Of(kStencil);
  EXPECT_EQ(features.values[FeatureAt("stencil_offsets")], 5);
  EXPECT_EQ(features.values[FeatureAt("coalesced_share")], 1);
  EXPECT_EQ(features.values[FeatureAt("reuse_share")], 0);
}

TEST_F(KernelFeaturesTest, OfABlockReduction) {
  const auto features = Of(kBlockSum);
  EXPECT_EQ(features.values[FeatureAt("shared_bytes")], 512);
  EXPECT_THAT(features.values[FeatureAt("shared_share")], Gt(0.5));
  EXPECT_EQ(features.values[FeatureAt("barriers")], 2);
  EXPECT_EQ(features.values[FeatureAt("loop_barriers")], 1);
  EXPECT_EQ(features.values[FeatureAt("reductions")], 1);
  EXPECT_EQ(features.values[FeatureAt("device_calls")], 1);
  EXPECT_EQ(features.values[FeatureAt("loops")], 2);
  EXPECT_THAT(features.values[FeatureAt("coalesced_share")], Gt(0.8)) << "also where it walks";
}

TEST_F(KernelFeaturesTest, OfAHistogram) {
  const auto features = Of(kCounted);
  EXPECT_THAT(features.values[FeatureAt("atomic_share")], Gt(0.2));
  EXPECT_EQ(features.values[FeatureAt("indirect_share")], 0.5);
  EXPECT_EQ(features.values[FeatureAt("outputs")], 1);
}

TEST_F(KernelFeaturesTest, OfSpecialFunctionsAndExchanges) {
  const auto features = Of(kRoots);
  EXPECT_THAT(features.values[FeatureAt("special_share")], Gt(0.5));
  EXPECT_EQ(features.values[FeatureAt("warp_exchanges")], 1);
  EXPECT_EQ(features.values[FeatureAt("constant_loops")], 1);
}

// By which a pool is of use at all.
TEST_F(KernelFeaturesTest, KernelsOfAKindAreNearerThanOthers) {
  const auto product = Of(kProduct), block_sum = Of(kBlockSum), map = Of(kScaled);
  std::string longer = kProduct;
  longer.replace(longer.find("float sum = 0;"), 14, "float sum = 0.5f; int rows = n;");
  longer.replace(longer.find("n=128"), 5, "n=256");
  const auto like = Of(longer);
  EXPECT_LT(records::Distance(product, like), 0.05);
  EXPECT_GT(records::Distance(product, map), 0.2);
  EXPECT_GT(records::Distance(product, block_sum), 0.2);
  EXPECT_GT(records::Distance(block_sum, map), 0.15);
}

}  // namespace
}  // namespace cupilot::source
