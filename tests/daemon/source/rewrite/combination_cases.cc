#include "tests/daemon/source/rewrite/combination_cases.h"

namespace cupilot::source {
namespace {

// A value that depends on more than its element; an array with an offset; a number of elements that
// is no multiple of anything.
constexpr const char* kDistance = R"(
// cupilot: tune
// cupilot: workload w grid=41 block=128 count=5201 a=normal[count] b=normal[count] total=inout constant(0)[3]
__global__ void distance(const float* a, const float* b, float* total, int count) {
  __shared__ float terms[128];
  const int lane = threadIdx.x;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  float term = 0.0f;
  if (at < count) {
    const float gap = a[at] - b[at];
    term = gap * gap;
  }
  terms[lane] = term;
  __syncthreads();
  for (unsigned int half = blockDim.x >> 1; half > 0; half >>= 1) {
    if (lane < half) terms[lane] = terms[lane] + terms[lane + half];
    __syncthreads();
  }
  if (lane == 0) atomicAdd(&total[1], terms[0]);
}
)";

// Rows of a plane; two halves a block; a maximum of integers, by the thread's own choice.
constexpr const char* kHighest = R"(
// cupilot: tune
// cupilot: workload w grid=(12,3) block=64 width=1500 marks=integers(-1000,1000)[3*width] peaks=inout constant(-5000)[3]
__global__ void highest(const int* marks, int* peaks, int width) {
  __shared__ int seen[64];
  const int* row = marks + blockIdx.y * width;
  int first = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  if (first + (int)blockDim.x < width) {
    seen[threadIdx.x] = max(row[first], row[first + blockDim.x]);
  } else {
    seen[threadIdx.x] = first < width ? row[first] : -9999;
  }
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    if (threadIdx.x % (2 * step) == 0)
      seen[threadIdx.x] = max(seen[threadIdx.x], seen[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(peaks + blockIdx.y, seen[0]);
}
)";

// Warps exchange values; two sums at once.
constexpr const char* kMoments = R"(
// cupilot: tune
// cupilot: workload w grid=40 block=96 n=3800 values=normal[n] moments=inout constant(0)[2]
__global__ void moments(const float* values, float* moments, int n) {
  __shared__ float first[3], second[3];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float once = i < n ? values[i] : 0.0f, twice = once * once;
  for (int offset = 16; offset > 0; offset /= 2) {
    once += __shfl_down_sync(0xffffffffu, once, offset);
    twice += __shfl_down_sync(0xffffffffu, twice, offset);
  }
  if (threadIdx.x % 32 == 0) {
    first[threadIdx.x / 32] = once;
    second[threadIdx.x / 32] = twice;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&moments[0], first[0] + first[1] + first[2]);
    atomicAdd(&moments[1], second[0] + second[1] + second[2]);
  }
}
)";

// The root of a sum is not the sum of roots.
constexpr const char* kLengths = R"(
// cupilot: tune
// cupilot: workload w grid=32 block=64 in=normal[2048] out=inout constant(0)[1]
__global__ void lengths(const float* in, float* out) {
  __shared__ float part[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = in[i] * in[i];
  __syncthreads();
  for (int s = 32; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, sqrtf(part[0]));
}
)";

// What the threads bring decides what they do.
constexpr const char* kSmallSums = R"(
// cupilot: tune
// cupilot: workload w grid=32 block=64 in=integers(0,9)[2048] out=inout constant(0)[1]
__global__ void small_sums(const int* in, int* out) {
  __shared__ int part[64];
  part[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int s = 32; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0 && part[0] < 300) atomicAdd(out, part[0]);
}
)";

// Each block has its own result.
constexpr const char* kBlockSums = R"(
// cupilot: tune
// cupilot: workload w grid=32 block=64 in=normal[2048] out=inout constant(0)[32]
__global__ void block_sums(const float* in, float* out) {
  __shared__ float part[64];
  part[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int s = 32; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(&out[blockIdx.x], part[0]);
}
)";

// Bytes of a length that is no multiple of a vector; a value that is left out.
constexpr const char* kLetters = R"(
// cupilot: tune
// cupilot: workload w grid=260 block=64 n=16601 text=integers(0,255)[n] often=inout constant(0)[128]
__global__ void letters(const unsigned char* text, unsigned int* often, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  unsigned char letter = text[at];
  if (letter == 10) return;
  atomicAdd(&often[letter & 127], 1u);
}
)";

// Weighted, by a second array.
constexpr const char* kWeighted = R"(
// cupilot: tune
// cupilot: workload w grid=64 block=128 n=8192 kinds=integers(0,70000)[n] amounts=integers(0,50)[n] sums=inout constant(7)[16]
__global__ void weighted(const unsigned int* kinds, const int* amounts, int* sums, int n) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[kinds[i] % 16u], amounts[i]);
}
)";

constexpr TechniqueCase kCombinationCases[] = {
    {"joined_blocks", "vectors", "distance", kDistance, R"({"items":2,"width":4})", "float4"},
    {"joined_blocks", "blocks", "distance", kDistance, R"({"items":3,"width":1})",
     "cupilot_joined_block * blockDim.x"},
    {"joined_blocks", "rows", "highest", kHighest, R"({"items":5,"width":1})", "2147483647"},
    {"joined_blocks", "warps", "moments", kMoments, R"({"items":12,"width":2})", "float2"},
    {"joined_blocks", "root", "lengths", kLengths, R"({"items":4})", "not a plain combination",
     true},
    {"joined_blocks", "decides", "small_sums", kSmallSums, R"({"items":4})", "combines otherwise",
     true},
    {"joined_blocks", "own_results", "block_sums", kBlockSums, R"({"items":4})",
     "depends on the block", true},
    {"private_atomics", "bytes_at_once", "letters", kLetters,
     R"({"scope":"block","items":32,"width":16,"copies":8,"block":128})", "uint4"},
    {"private_atomics", "two_arrays", "weighted", kWeighted,
     R"({"scope":"block","items":8,"width":4,"copies":32,"block":64})", "int4"},
};

}  // namespace

std::span<const TechniqueCase> CombinationCases() { return kCombinationCases; }

}  // namespace cupilot::source
