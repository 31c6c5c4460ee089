// The sum of n numbers. num_blocks blocks go over vectors of 1, 2 or 4 numbers, unroll_factor of them
// in one step of a thread (0: as 1); a block adds up with shuffles or in shared memory, and its sum is
// added to `out`, which is zero before.
// The source's own point needs aligned arrays, as other points do: what the original needs, candidates may.
#ifndef block_size_x
#define block_size_x 256
#endif
#ifndef vector_width
#define vector_width 4
#endif
#ifndef num_blocks
#define num_blocks 1024
#endif
#ifndef unroll_factor
#define unroll_factor 0
#endif
#ifndef use_shuffle
#define use_shuffle 0
#endif

constexpr int kSteps = unroll_factor ? unroll_factor : 1;
constexpr long long kThreads = static_cast<long long>(num_blocks) * block_size_x;

struct alignas(4 * vector_width) Numbers {
  float v[vector_width];
};

// cupilot: tune
// cupilot: tunable block_size_x = 32, 64, 128, 256, 512, 1024
// cupilot: tunable vector_width = 1, 2, 4
// cupilot: tunable num_blocks = 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768
// cupilot: tunable unroll_factor = 0, 1, 8, 16, 32, 64
// cupilot: tunable use_shuffle = 0, 1
// cupilot: launch block=(block_size_x) grid=(num_blocks)
__global__ void __launch_bounds__(block_size_x) reduction(float* out, const float* in, int n) {
  const Numbers* numbers = reinterpret_cast<const Numbers*>(in);
  const long long count = n / vector_width, thread = blockIdx.x * block_size_x + threadIdx.x;
  float sum = 0.0f;
  long long i = thread;
  for (; i + (kSteps - 1) * kThreads < count; i += kSteps * kThreads) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const Numbers some = numbers[i + s * kThreads];
#pragma unroll
      for (int v = 0; v < vector_width; ++v) sum += some.v[v];
    }
  }
  for (; i < count; i += kThreads) {
    const Numbers some = numbers[i];
#pragma unroll
    for (int v = 0; v < vector_width; ++v) sum += some.v[v];
  }
  if (thread < n - count * vector_width) sum += in[count * vector_width + thread];
#if use_shuffle
  __shared__ float sums[32];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < block_size_x / 32 ? sums[threadIdx.x] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  }
#else
  __shared__ float sums[block_size_x];
  sums[threadIdx.x] = sum;
  for (int half = block_size_x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  sum = sums[0];
#endif
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
