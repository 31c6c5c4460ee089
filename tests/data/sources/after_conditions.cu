// corpus: swapped
// corpus: flags -DFAST -ULATER
// Kernels inside and behind #if blocks, and one for each side of a condition.
#include "support.cuh"

#if 0
// cupilot: tune
__global__ void left_out(this is no C++) {}
#endif
#ifdef LATER
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void step(int* data, int n) { data[0] = n; }
#elif defined(FAST)
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] by=3
__global__ void step(int* data, int n
#if !defined(LATER)
                     , int by
#endif
) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(__CUDACC__) && FAST
  if (i < n) data[i] += by;
#else
  if (i < n) data[i] -= by;
#endif
}
#endif

int main() {
  support::Array<int> data(256, 1, 1);
  step<<<4, 64>>>(data.get(), 256, 5);
  support::Show("data", data);
}
