// The mean of two pictures in half precision.
#include <cuda_fp16.h>

// cupilot: tune
// cupilot: workload all grid=(16) block=(128) n=2001 a=normal[n] b=normal[n] out=[n]
__global__ void half_average(const __half* a, const __half* b, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half((__half2float(a[i]) + __half2float(b[i])) * 0.5f);
}
