// Stored in half precision, computed in single precision, rounded once.
#include <cuda_fp16.h>

// cupilot: tune
// cupilot: workload all grid=(12) block=(256) n=3001 share=0.3 a=normal[n] b=normal[n] out=[n]
__global__ void half_blend(const __half* a, const __half* b, __half* out, float share, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = __half2float(a[i]), y = __half2float(b[i]);
  out[i] = __float2half(x * share + y * (1.0f - share));
}
