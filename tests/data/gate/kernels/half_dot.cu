// Products and sums of rows in half precision.
#include <cuda_fp16.h>

// cupilot: tune
// cupilot: workload rows grid=(4) block=(32) count=100 width=96 a=normal[count*width] b=normal[count*width] sums=[count]
__global__ void half_dot(const __half* a, const __half* b, __half* sums, int count, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  __half sum = __float2half(0.0f);
  for (int i = 0; i < width; ++i) sum = __hadd(sum, __hmul(a[row * width + i], b[row * width + i]));
  sums[row] = sum;
}
