// corpus: swapped
// corpus: nvcc-only (the host device has no CUB)
// corpus: standards 17 20
#include <cub/block/block_reduce.cuh>

#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] sums=[4]
__global__ void sums_of_blocks(const int* in, int* sums, int n) {
  typedef cub::BlockReduce<int, 64> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = Reduce(storage).Sum(i < n ? in[i] : 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int main() {
  support::Array<int> in(256, 1, 1), sums(4);
  sums_of_blocks<<<4, 64>>>(in.get(), sums.get(), 256);
  support::Show("sums", sums);
}
