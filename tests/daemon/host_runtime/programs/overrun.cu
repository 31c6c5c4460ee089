// Writes one element too many, behind a barrier.
#include <cuda_runtime.h>

__global__ void Shift(int* data, int by) {
  __shared__ int box[32];
  box[threadIdx.x] = threadIdx.x;
  __syncthreads();
  data[threadIdx.x + by] = box[31 - threadIdx.x];
}

int main(int argc, char**) {
  int* data = nullptr;
  cudaMalloc(&data, 32 * sizeof(int));
  Shift<<<1, 32>>>(data, argc - 1);
  return cudaDeviceSynchronize();
}
