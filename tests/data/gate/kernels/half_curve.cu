// Computed in half precision throughout, rounded after each operation.
#include <cuda_fp16.h>

// cupilot: tune
// cupilot: workload all grid=(12) block=(256) n=3000 x=normal[n] out=[n]
__global__ void half_curve(const __half* x, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half a = __float2half(0.37f), b = __float2half(-1.2f), c = __float2half(0.81f);
  out[i] = __hadd(__hmul(__hadd(__hmul(a, x[i]), b), x[i]), c);
}
