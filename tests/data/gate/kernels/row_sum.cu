// One block a row, a tree in shared memory.
namespace rows {
// cupilot: tune
// cupilot: workload wide grid=(40) block=(64) count=40 width=1000 in=uniform(0,1)[count*width] sums=[count]
// cupilot: workload odd grid=(7) block=(64) count=7 width=259 in=uniform(0,1)[count*width] sums=[count]
__global__ void row_sum(const float* in, float* sums, int count, int width) {
  __shared__ float part[64];
  const int row = blockIdx.x;
  if (row >= count) return;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 64) sum += in[row * width + i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[row] = part[0];
}
}  // namespace rows
