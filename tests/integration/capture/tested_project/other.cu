// Of a target of its own.
#include <vector>

// cupilot: tune
__global__ void add(float* data, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += by;
}

int main() {
  const int n = 4096;
  std::vector<float> host(n, 1.5f);
  float* data;
  cudaMalloc(&data, n * sizeof(float));
  cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<n / 128, 128>>>(data, 2, n);
  cudaMemcpy(host.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);
  return host[n - 1] == 3.5f ? 0 : 1;
}
