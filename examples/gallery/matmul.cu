// C = A B, one element of C a thread.
#include "gallery.h"

// cupilot: tune
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
  }
}

Timing RunMatmul(const Options& options) {
  const int size = kMatmulSize;
  const std::vector<float> a = NormalValues(size * size, 13), b = NormalValues(size * size, 14);
  DeviceBuffer<float> device_a(a), device_b(b), device_c(a.size());
  const dim3 block(16, 16), grid(size / block.x, size / block.y);
  const double time = MedianMicroseconds(options, [] {}, [&] {
    matmul<<<grid, block>>>(device_a.get(), device_b.get(), device_c.get(), size, size, size);
  });
  WriteOutput(options, "matmul", device_c.Get());
  WriteReference(options, "matmul", {a, b}, a.size(), 2 * size, size, [&](const Inputs& in, auto& out, int row) {
    std::fill_n(out.begin() + row * size, size, 0.0);
    for (int i = 0; i < size; ++i) {
      const double factor = in[0][row * size + i];
      for (int column = 0; column < size; ++column) {
        out[row * size + column] += factor * in[1][i * size + column];
      }
    }
  });
  return {"matmul", time};
}
