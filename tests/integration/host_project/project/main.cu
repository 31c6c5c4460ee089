#include <cstdio>
#include <cstring>
#include <vector>

#include "scale.cuh"

std::vector<float> ToHost(const float* device, int n);

constexpr int Square(int v) { return v * v; }
__global__ void Fill(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = static_cast<float>(Square(i));
}

int main() {
  const int n = 1000;
  float* data = nullptr;
  if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) return 1;
  Fill<<<(n + 255) / 256, 256>>>(data, n);
  Scale(data, n, 2.0f);
  ScaleKernel<<<(n + 63) / 64, 64>>>(data, n, static_cast<float>(FACTOR));
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  const std::vector<float> values = ToHost(data, n);
  for (int i = 0; i < n; ++i) {
    if (values[i] != 6.0f * static_cast<float>(i * i)) return 3;
  }
  if (std::strcmp(TEXT, "a b") != 0) return 4;
  cudaFree(data);
  std::printf("app: ok\n");
}
