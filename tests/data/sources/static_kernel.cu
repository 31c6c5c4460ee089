// corpus: swapped
// corpus: kernels 2
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=integers(0,9)[n]
static __global__ void twice(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] *= 2;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=integers(0,9)[n]
__global__ static void thrice(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] *= 3;
}

int main() {
  support::Array<int> out(256, 1, 1);
  twice<<<4, 64>>>(out.get(), 256);
  thrice<<<4, 64>>>(out.get(), 256);
  support::Show("out", out);
}
