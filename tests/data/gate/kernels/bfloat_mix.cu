// Computed in bfloat16, the square root included.
#include <cuda_bf16.h>

// cupilot: tune
// cupilot: workload all grid=(12) block=(256) n=3000 a=uniform[n] b=uniform(1,3)[n] out=[n]
__global__ void bfloat_mix(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] * hsqrt(b[i] * b[i] + a[i] * a[i]) + b[i];
}
