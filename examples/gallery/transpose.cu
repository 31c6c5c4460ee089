// The transpose of a matrix, one element a thread.
#include "gallery.h"

// cupilot: tune
__global__ void transpose(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    out[x * height + y] = in[y * width + x];
  }
}

Timing RunTranspose(const Options& options) {
  const int width = kTransposeWidth, height = width;
  const std::vector<float> in = NormalValues(width * height, 3);
  DeviceBuffer<float> device_in(in), device_out(in.size());
  const dim3 block(16, 16);
  const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  const double time = MedianMicroseconds(options, [] {}, [&] {
    transpose<<<grid, block>>>(device_in.get(), device_out.get(), width, height);
  });
  WriteOutput(options, "transpose", device_out.Get());
  WriteReference(options, "transpose", {in}, in.size(), 1, height, [&](const Inputs& source, auto& out, int y) {
    for (int x = 0; x < width; ++x) out[x * height + y] = source[0][y * width + x];
  });
  return {"transpose", time};
}
