// corpus: declined "'atomicAdd_system' acts across devices"
// corpus: declined "'__threadfence_system': it orders memory across devices"
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 total=inout integers(0,0)[1]
__global__ void add_across(int* total, int n) {
  if (threadIdx.x < n) atomicAdd_system(total, int(threadIdx.x));
}

__device__ void Publish(int* flag) {
  __threadfence_system();
  *flag = 1;
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 data=[n] flag=[1]
__global__ void publish(int* data, int* flag, int n) {
  if (threadIdx.x < n) data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) Publish(flag);
}

int main() {
  support::Array<int> total(1), data(32), flag(1);
  add_across<<<1, 32>>>(total.get(), 32);
  publish<<<1, 32>>>(data.get(), flag.get(), 32);
  support::Show("total", total);
  support::Show("data", data);
}
