// corpus: swapped
// corpus: kernels 2
// Parameters without names and without use, and a kernel whose only parameter is a number.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 $1=7 n=256 data=integers(0,9)[n] $3=0.5 $4=null
__global__ void unnamed(int* data, short, int n, double, int* /* unused */ = nullptr);
__global__ void unnamed(int* data, short, int n, double, int*) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 2;
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=3
__global__ void nothing(int n) {
  if (n < 0) return;
}

int main() {
  support::Array<int> data(256, 1, 1);
  unnamed<<<4, 64>>>(data.get(), 1, 256, 2.0, data.get());
  nothing<<<1, 32>>>(3);
  support::Show("data", data);
}
