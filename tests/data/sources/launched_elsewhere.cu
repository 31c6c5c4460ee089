// corpus: swapped
// corpus: kernels 2
// corpus: flags -rdc=true
// corpus: also launched_elsewhere_other.cu -rdc=true
// Kernels that another source launches, which sees their declarations only.
#include "support.cuh"

namespace library {

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] by=3
__global__ void add(int* data, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += by;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
template <int By>
__global__ void multiply(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= By;
}
template __global__ void multiply<5>(int*, int);

}  // namespace library

void RunElsewhere(int* data, int n);

int main() {
  support::Array<int> data(256, 1, 1);
  RunElsewhere(data.get(), 256);
  support::Show("data", data);
}
