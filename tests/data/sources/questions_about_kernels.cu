// corpus: swapped
// Occupancy and attributes of a tuned kernel: the answers are the original's.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 shared=1024 n=256 data=integers(0,9)[n]
__global__ void __launch_bounds__(256) reverse(int* data, int n) {
  __shared__ int all[64];
  extern __shared__ int more[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  all[threadIdx.x] = more[threadIdx.x] = i < n ? data[i] : 0;
  __syncthreads();
  if (i < n) data[i] = all[63 - threadIdx.x] + more[threadIdx.x];
}

int main() {
  support::Array<int> data(256, 1, 1);
  cudaFuncAttributes attributes;
  support::Check(cudaFuncGetAttributes(&attributes, reverse));
  std::printf("threads %d, static bytes %d\n", attributes.maxThreadsPerBlock, int(attributes.sharedSizeBytes));
  support::Check(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 2048));
  int blocks = 0;
  support::Check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 64, 1024));
  std::printf("%s\n", blocks > 0 ? "fits" : "does not fit");
  reverse<<<4, 64, 1024>>>(data.get(), 256);
  support::Show("data", data);
  support::Check(cudaFuncGetAttributes(&attributes, reverse));
  std::printf("threads %d\n", attributes.maxThreadsPerBlock);
}
