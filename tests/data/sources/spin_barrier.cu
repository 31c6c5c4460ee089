// corpus: swapped
// corpus: declined "waits for other threads in a loop"
// corpus: declined "waits for other threads in a loop"
// corpus: declined "waits for other threads in a loop"
// Barriers and locks made of atomics; and the last block of all, which waits for nobody.
#include "support.cuh"

__device__ void Arrive(unsigned* arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
  }
  __syncthreads();
}

// cupilot: tune
// cupilot: workload grid=1 block=64 n=64 arrived=inout integers(0,0)[1] data=integers(0,9)[n]
__global__ void in_two_phases(unsigned* arrived, int* data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] += 1;
  Arrive(arrived);
  if (threadIdx.x < n) data[threadIdx.x] *= 2;
}

// cupilot: tune
// cupilot: workload grid=1 block=1 n=64 lock=inout integers(0,0)[1] data=integers(0,9)[n]
__global__ void locked(int* lock, int* data, int n) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      for (int i = 0; i < n; ++i) data[i] += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// cupilot: tune
// cupilot: workload grid=1 block=1 n=64 ticket=inout integers(0,0)[1] data=integers(0,9)[n]
__global__ void in_turn(unsigned* ticket, int* data, int n) {
  do {
  } while (atomicOr(ticket, 0u) != blockIdx.x);
  for (int i = 0; i < n; ++i) data[i] = 3 * data[i] + int(blockIdx.x);
  __threadfence();
  atomicInc(ticket, 0xffffu);
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 count=inout integers(0,0)[1] in=integers(0,9)[n] sums=[4] total=[1]
__global__ void last_block(unsigned* count, const int* in, int* sums, int* total, int n) {
  __shared__ int sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += sums[b];
    *total = all;
  }
}

int main() {
  support::Array<unsigned> arrived(1), ticket(1), count(1);
  support::Array<int> data(64, 1, 1), lock(1), in(256, 1, 1), sums(4), total(1);
  in_two_phases<<<1, 64>>>(arrived.get(), data.get(), 64);
  locked<<<1, 1>>>(lock.get(), data.get(), 64);
  in_turn<<<1, 1>>>(ticket.get(), data.get(), 64);
  last_block<<<4, 64>>>(count.get(), in.get(), sums.get(), total.get(), 256);
  support::Show("data", data);
  support::Show("total", total);
}
