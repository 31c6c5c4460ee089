// corpus: swapped
// Arrays of half precision; how they are filled, a workload file says.
#include <cuda_fp16.h>

#include "support.cuh"

// cupilot: tune
__global__ void add(const __half* __restrict__ a, const half2* b, __half* out, __half factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const half2 both = b[i / 2];
  out[i] = __hadd(__hmul(factor, a[i]), i % 2 == 0 ? __low2half(both) : __high2half(both));
}

__global__ void fill(__half* a, half2* b, int n) {
  int i = threadIdx.x;
  if (i < n) a[i] = __float2half(0.25f * i);
  if (i < n / 2) b[i] = __floats2half2_rn(float(i), -0.5f * i);
}
__global__ void widen(const __half* in, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = __half2float(in[threadIdx.x]);
}

int main() {
  support::Array<unsigned short> a(128), b(128), out(128);
  support::Array<float> wide(128);
  __half* const halves = reinterpret_cast<__half*>(out.get());
  fill<<<1, 128>>>(reinterpret_cast<__half*>(a.get()), reinterpret_cast<half2*>(b.get()), 128);
  add<<<2, 64>>>(reinterpret_cast<const __half*>(a.get()), reinterpret_cast<const half2*>(b.get()), halves,
                 __float2half(1.5f), 128);
  widen<<<1, 128>>>(halves, wide.get(), 128);
  support::Show("wide", wide);
}
