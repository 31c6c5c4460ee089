// corpus: swapped
// corpus: kernels 3
// corpus: idle 2
// Kernels that nothing launches, one of them in an unnamed namespace.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void used(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void unused(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 2;
}

namespace {
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__attribute__((unused)) __global__ void unused_hidden(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 3;
}
}  // namespace

int main() {
  support::Array<int> data(256, 1, 1);
  used<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
