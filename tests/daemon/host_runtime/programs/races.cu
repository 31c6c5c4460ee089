// Kernels with and without races, for the thread sanitizer.
#include "checks.h"

using checks::Buffer;

__global__ void BlocksWriteOnePlace(int* place) { *place = static_cast<int>(blockIdx.x); }
CASE(blocks_write_one_place) {
  Buffer<int> place(1);
  BlocksWriteOnePlace<<<2, 1>>>(place);
  cudaDeviceSynchronize();
}

// No order of the threads shows it: each adds its one before the next one does.
__global__ void CountWithoutAtomics(int* counter) { ++*counter; }
CASE(threads_count_without_atomics) {
  Buffer<int> counter(1);
  CountWithoutAtomics<<<1, 64>>>(counter);
  cudaDeviceSynchronize();
}
CASE(blocks_count_without_atomics) {
  Buffer<int> counter(1);
  CountWithoutAtomics<<<2, 1>>>(counter);
  cudaDeviceSynchronize();
}

// Both blocks are there at once.
__global__ void BlocksWaitForEachOther(int* arrived) {
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < 2) {
  }
}
CASE(blocks_that_wait_for_each_other) {
  Buffer<int> arrived(1);
  BlocksWaitForEachOther<<<2, 1>>>(arrived);
  SAME(arrived.Read()[0], 2);
}

template <bool Waits>
__global__ void Neighbours(int* out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  if (Waits) __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = box[(threadIdx.x + 1) % 64];
}
CASE(a_barrier_is_missing) {
  Buffer<int> out(64);
  Neighbours<false><<<1, 64>>>(static_cast<int*>(out));
  cudaDeviceSynchronize();
}
CASE(a_barrier_is_there) {
  Buffer<int> out(8 * 64);
  Neighbours<true><<<8, 64>>>(static_cast<int*>(out));
  cudaDeviceSynchronize();
}

// The block that ends last adds up what all have left, as in the programming guide.
__global__ void SumOfSums(const int* in, int* sums, unsigned int* ended, int* result) {
  __shared__ bool last;
  int sum = in[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(ended, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int all = 0;
  for (unsigned int i = 0; i < gridDim.x; ++i) all += sums[i];
  *result = all;
}
CASE(the_last_block_adds_up) {
  Buffer<int> in(64 * 32, 1), sums(64), result(1);
  Buffer<unsigned int> ended(1);
  for (int i = 0; i < 20; ++i) {
    cudaMemset(ended, 0, sizeof(int));
    SumOfSums<<<64, 32>>>(in, sums, ended, result);
    SAME(result.Read()[0], 64 * 32);
  }
}

__global__ void Histogram(const int* in, int n, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] % 7], 1);
}
CASE(atomic_counters) {
  Buffer<int> in(10000, 3), bins(7);
  Histogram<<<40, 256>>>(in, 10000, bins);
  SAME(bins.Read()[3], 10000);
}

// As the programming guide writes an operation that the device does not have; the first read of the word is a plain one.
__global__ void MultiplyInALoop(unsigned long long* word) {
  unsigned long long old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, 3 * assumed);
  } while (assumed != old);
}
CASE(loops_around_compare_and_swap) {
  Buffer<unsigned long long> word(1, 1);
  MultiplyInALoop<<<4, 32>>>(word);
  unsigned long long expected = 1;
  for (int i = 0; i < 4 * 32; ++i) expected *= 3;
  SAME(word.Read()[0], expected);
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
