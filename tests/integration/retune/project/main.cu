#include <cstdio>
#include <cuda_runtime.h>

namespace waves {

// cupilot: tune
// cupilot: workload small grid=64 block=64 n=4096 decay=0.5 now=normal[n] next=inout normal[n]
__global__ void damp(const float* now, float* next, float decay, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) next[i] = now[i] - decay * next[i];
}

}  // namespace waves

int main() {
  const int n = 4096;
  float *now = nullptr, *next = nullptr;
  cudaMalloc(&now, n * sizeof(float));
  cudaMalloc(&next, n * sizeof(float));
  cudaMemset(now, 0, n * sizeof(float));
  cudaMemset(next, 0, n * sizeof(float));
  waves::damp<<<n / 64, 64>>>(now, next, 0.5f, n);
  const cudaError_t failed = cudaDeviceSynchronize();
  std::puts(cudaGetErrorString(failed));
  return failed == cudaSuccess ? 0 : 1;
}
