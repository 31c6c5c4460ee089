// How many steps a point of the plane takes to leave a circle: every bit of a step counts.
// cupilot: tune
// cupilot: workload plane grid=(4,5) block=(16,8) width=60 height=37 left=-2 top=-1.1 step=0.05 most=60 count=[width*height]
__global__ void escape(int* count, float left, float top, float step, int most, int width, int height) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cx = left + px * step, cy = top + py * step;
  float x = 0.0f, y = 0.0f;
  int n = 0;
  while (n < most && x * x + y * y <= 4.0f) {
    const float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    ++n;
  }
  count[py * width + px] = n;
}
