// 2D convolution with 7 by 7 weights in constant memory; pixels outside the image repeat its border.
constexpr int kRadius = 3;
constexpr int kSide = 2 * kRadius + 1;
__constant__ float weights[kSide * kSide];

__global__ void convolution(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
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
