// corpus: swapped
// corpus: declined "system scope"
// corpus: declined "system scope"
// corpus: nvcc-only (the host device has no libcu++)
// corpus: standards 17 20
#include <cuda/atomic>

#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 total=inout integers(0,0)[1]
__global__ void by_default(int* total, int n) {
  cuda::atomic_ref<int> sum(*total);
  if (threadIdx.x < n) sum.fetch_add(int(threadIdx.x));
}

__device__ void Add(int* total, int value) {
  cuda::atomic_ref<int, cuda::thread_scope_system>(*total).fetch_add(value, cuda::memory_order_relaxed);
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 total=inout integers(0,0)[1]
__global__ void by_name(int* total, int n) {
  if (threadIdx.x < n) Add(total, int(threadIdx.x));
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 total=inout integers(0,0)[1]
__global__ void on_device(int* total, int n) {
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(*total);
  if (threadIdx.x < n) sum.fetch_add(int(threadIdx.x), cuda::memory_order_relaxed);
}

int main() {
  support::Array<int> total(1);
  by_default<<<1, 32>>>(total.get(), 32);
  by_name<<<1, 32>>>(total.get(), 32);
  on_device<<<1, 32>>>(total.get(), 32);
  support::Show("total", total);
}
