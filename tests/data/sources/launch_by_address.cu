// corpus: swapped
// corpus: kernels 2
// cudaLaunchKernel with a kernel's address.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] by=3
__global__ void add(int* data, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += by;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void twice(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

int main() {
  support::Array<int> array(256, 1, 1);
  int* data = array.get();
  int by = 7, n = 256;
  void* arguments[] = {&data, &by, &n};
  support::Check(cudaLaunchKernel(reinterpret_cast<const void*>(&add), dim3(4), dim3(64), arguments, 0, 0));
  twice<<<4, 64>>>(data, n);
  support::Show("data", array);
}
