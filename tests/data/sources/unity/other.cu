#include "../support.cuh"

static __device__ int step(int value) { return value - 4; }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
static __global__ void kernel(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = step(data[i]);
}

void other_run(int* data, int n) { kernel<<<4, 64>>>(data, n); }
