// corpus: swapped
#include "support.cuh"

__device__ int SumOfWarp(int value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes >>= 1) value += __shfl_down_sync(0xffffffffu, value, lanes);
  return __shfl_sync(0xffffffffu, value, 0);
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] out=[n]
__global__ void votes(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = i < n ? in[i] : 0;
  const int sum = SumOfWarp(value);
  const unsigned odd = __ballot_sync(0xffffffffu, value & 1);
  const int swapped = __shfl_xor_sync(0xffffffffu, value, 1);
  if (i < n) out[i] = sum + __popc(odd) * 1000 + swapped + __any_sync(0xffffffffu, value == 7);
}

int main() {
  support::Array<int> in(256, 1, 1), out(256);
  votes<<<4, 64>>>(in.get(), out.get(), 256);
  support::Show("out", out);
}
