// corpus: swapped
// corpus: as ../outside_of_%_it/source.cu
// A source beside the build's folder, found by way of "..".
#include <cuda_runtime.h>

#include <cstdio>

// cupilot: tune
// cupilot: workload grid=1 block=64 n=64 data=normal[n]
__global__ void outside(float* data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] += 0.5f * threadIdx.x;
}

int main() {
  float values[64] = {}, *data = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&data), sizeof values);
  cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice);
  outside<<<1, 64>>>(data, 64);
  cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", values[1], values[63]);
  cudaFree(data);
}
