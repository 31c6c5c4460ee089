#include <cstdio>

#include "part.cuh"

__global__ void Sum(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Add(i, offset);
}

int main() {
  const int n = 100;
  int* out = nullptr;
  cudaMallocManaged(&out, n * sizeof(int));
  Sum<<<4, 32>>>(out, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < n; ++i) {
    if (out[i] != i + 10) return 2;
  }
  int count = 0;
  if (cudaMemcpyFromSymbol(&count, calls, sizeof count) != cudaSuccess || count != n) return 3;
  const int seven = 7;
  if (cudaMemcpyToSymbol(offset, &seven, sizeof seven) != cudaSuccess) return 4;
  Sum<<<4, 32>>>(out, n);
  if (cudaDeviceSynchronize() != cudaSuccess || out[1] != 15) return 5;
  std::printf("separate: ok\n");
}
