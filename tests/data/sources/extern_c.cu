// corpus: swapped
// corpus: kernels 2
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
extern "C" __global__ void plain_name(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += i % 5;
}

namespace inside {
extern "C" {

__device__ int minus_one(int value) { return value - 1; }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void in_braces(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = 2 * minus_one(data[i]);
}

}
}  // namespace inside

int main() {
  support::Array<int> data(256, 3, 1);
  plain_name<<<4, 64>>>(data.get(), 256);
  inside::in_braces<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
