// corpus: swapped
// corpus: kernels 2
// As a generator leaves it: with #line in front of and inside a kernel.
#include "support.cuh"

#line 100 "grammar.y"
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void generated(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#line 7 "other/part.inc"
  if (i < n) data[i] += __LINE__;
#line 200 "grammar.y"
}

#line 40
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void renumbered(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] ^= __LINE__;
}

int main() {
  support::Array<int> data(256, 1, 1);
  generated<<<4, 64>>>(data.get(), 256);
  renumbered<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
