// Each line's values become the mean of themselves and their right neighbours; smooth.json says that input and output are
// one array.
// cupilot: tune
__global__ void smooth(const float* in, float* out, int width, int height) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height) return;
  for (int x = 0; x < width; ++x) {
    const float next = x + 1 < width ? in[y * width + x + 1] : in[y * width + x];
    out[y * width + x] = 0.5f * (in[y * width + x] + next);
  }
}
