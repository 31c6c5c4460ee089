// corpus: declined "'ready' is volatile"
// corpus: declined "it casts to volatile"
// corpus: races (threads tell each other by a volatile variable, and nothing orders them)
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=1 block=64 n=64 ready=inout integers(0,0)[1] data=integers(0,9)[n]
__global__ void hand_over(volatile int* ready, int* data, int n) {
  if (threadIdx.x == 0) *ready = 1;
  if (threadIdx.x < n) data[threadIdx.x] += *ready;
}

__device__ int Peek(int* address) { return *(volatile int*)address; }

// cupilot: tune
// cupilot: workload grid=1 block=64 n=64 data=integers(0,9)[n]
__global__ void peek(int* data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] = Peek(data + threadIdx.x);
}

int main() {
  support::Array<int> ready(1, 1), data(64, 1, 1);
  hand_over<<<1, 64>>>(ready.get(), data.get(), 64);
  peek<<<1, 64>>>(data.get(), 64);
  support::Show("data", data);
}
