// corpus: swapped
// corpus: flags -rdc=true
// Code that is linked on the device, though nothing here needs it.
#include "support.cuh"

__device__ int offset = 4;
__device__ int Shifted(int value);

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] global:offset=integers(0,9)
__global__ void shift(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = Shifted(data[i]);
}

__device__ int Shifted(int value) { return value + offset; }

int main() {
  support::Array<int> data(256, 1, 1);
  shift<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
