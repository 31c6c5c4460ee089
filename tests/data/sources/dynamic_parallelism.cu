// corpus: swapped
// corpus: gpu-idle 1
// corpus: declined "the kernel launches another kernel"
// corpus: nvcc-only (the host device has no device runtime)
// corpus: flags -rdc=true
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 data=integers(0,9)[n]
__global__ void child(int* data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] += 1;
}

__device__ void Start(int* data, int n) { child<<<1, 32>>>(data, n); }

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 data=integers(0,9)[n]
__global__ void parent(int* data, int n) {
  if (threadIdx.x == 0) Start(data, n);
}

int main() {
  support::Array<int> data(32, 1, 1);
  parent<<<1, 32>>>(data.get(), 32);
  support::Show("data", data);
}
