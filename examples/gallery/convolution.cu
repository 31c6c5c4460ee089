// 2D convolution with weights in constant memory; pixels outside the image repeat its border.
#include "gallery.h"

constexpr int kRadius = 3;
constexpr int kSide = 2 * kRadius + 1;
__constant__ float weights[kSide * kSide];

#ifndef CONVOLUTION_BLOCK_X
#define CONVOLUTION_BLOCK_X 16
#endif
#ifndef CONVOLUTION_BLOCK_Y
#define CONVOLUTION_BLOCK_Y 16
#endif

// cupilot: tune
// cupilot: tunable CONVOLUTION_BLOCK_X = 16, 32, 64, 128, 256
// cupilot: tunable CONVOLUTION_BLOCK_Y = 1, 2, 4, 8, 16
// cupilot: require CONVOLUTION_BLOCK_X * CONVOLUTION_BLOCK_Y <= 1024
// cupilot: launch block=(CONVOLUTION_BLOCK_X,CONVOLUTION_BLOCK_Y) grid=(ceil_div(width,CONVOLUTION_BLOCK_X),ceil_div(height,CONVOLUTION_BLOCK_Y))
__global__ void convolution(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * CONVOLUTION_BLOCK_X + threadIdx.x;
  int y = blockIdx.y * CONVOLUTION_BLOCK_Y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      int sx = min(max(x + dx, 0), width - 1);
      int sy = min(max(y + dy, 0), height - 1);
      sum += weights[(dy + kRadius) * kSide + dx + kRadius] * in[sy * width + sx];
    }
  }
  out[y * width + x] = sum;
}

Timing RunConvolution(const Options& options) {
  const int width = kLarge ? 2048 : 512, height = width;
  const std::vector<float> in = NormalValues(width * height, 9), w = NormalValues(kSide * kSide, 10);
  DeviceBuffer<float> device_in(in), device_out(in.size());
  Check(cudaMemcpyToSymbol(weights, w.data(), w.size() * sizeof(float)), "cudaMemcpyToSymbol");
  const dim3 block(CONVOLUTION_BLOCK_X, CONVOLUTION_BLOCK_Y);
  const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  const double time = MedianMicroseconds(options, [] {}, [&] {
    convolution<<<grid, block>>>(device_in.get(), device_out.get(), width, height);
  });
  WriteOutput(options, "convolution", device_out.Get());
  auto exact = [&](const Inputs& source, auto& out, int y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int dy = -kRadius; dy <= kRadius; ++dy) {
        for (int dx = -kRadius; dx <= kRadius; ++dx) {
          const int sx = std::min(std::max(x + dx, 0), width - 1);
          const int sy = std::min(std::max(y + dy, 0), height - 1);
          sum += source[1][(dy + kRadius) * kSide + dx + kRadius] * source[0][sy * width + sx];
        }
      }
      out[y * width + x] = sum;
    }
  };
  WriteReference(options, "convolution", {in, w}, in.size(), kSide * kSide, height, exact);
  return {"convolution", time};
}
