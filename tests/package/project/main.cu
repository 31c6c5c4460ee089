#include <cstdio>

// cupilot: tune
// cupilot: workload small grid=(4) block=(64) size=256 data=iota[size]
__global__ void twice(float* data, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) data[i] *= 2.0f;
}

int main() {
  float* data = nullptr;
  if (cudaMallocManaged(&data, 256 * sizeof(float)) != cudaSuccess) return 1;
  for (int i = 0; i < 256; ++i) data[i] = static_cast<float>(i);
  twice<<<4, 64>>>(data, 256);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf("%g\n", data[255]);
  return data[255] == 510.0f ? 0 : 1;
}
