#pragma once

__device__ int Linked(int value) { return 5 * value; }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void linked(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += Linked(i & 7);
}
