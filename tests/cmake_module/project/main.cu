#include <cstdio>
#include <vector>

#include "beside.h"
#include "shared.h"

namespace app {
// cupilot: tune
__global__ void scale(float factor, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
}  // namespace app

int Elsewhere() { return 1; }
const char* Helper();

int main() {
  const int n = 1000;
  std::vector<float> in(n, 2.0f), out(n, 0.0f);
  float *device_in = nullptr, *device_out = nullptr;
  if (cudaMalloc(&device_in, n * sizeof(float)) != cudaSuccess) return 3;
  if (cudaMalloc(&device_out, n * sizeof(float)) != cudaSuccess) return 3;
  cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  app::scale<<<(n + 127) / 128, 128>>>(FACTOR, device_in, device_out, n);
  cudaMemcpy(out.data(), device_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%s %s %g %d %s\n", BESIDE, Helper(), out[n - 1], Elsewhere(), __FILE__);
}
