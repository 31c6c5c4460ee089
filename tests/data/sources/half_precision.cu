// corpus: swapped
#include <cuda_fp16.h>

#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] out=normal[n]
__global__ void through_half(const int* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half value = __float2half(0.5f * float(in[i]));
  const __half2 pair = __halves2half2(value, __float2half(0.25f));
  const __half2 twice = __hadd2(pair, pair);
  out[i] = __half2float(__hmul(value, value)) + __low2float(twice) * __high2float(twice);
}

int main() {
  support::Array<int> in(256, 1, 1);
  support::Array<float> out(256);
  through_half<<<4, 64>>>(in.get(), out.get(), 256);
  support::Show("out", out);
}
