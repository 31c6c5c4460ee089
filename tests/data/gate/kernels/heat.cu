// A step of the heat equation; the border is left alone.
namespace plate {
__device__ inline int At(int x, int y, int width) { return y * width + x; }

// cupilot: tune
// cupilot: workload plate grid=(5,6) block=(16,8) width=70 height=45 rate=0.2 old=normal[width*height] fresh=[width*height]
__global__ void heat(const float* old, float* fresh, float rate, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const float here = old[At(x, y, width)];
  const float around = old[At(x - 1, y, width)] + old[At(x + 1, y, width)] + old[At(x, y - 1, width)] +
                       old[At(x, y + 1, width)];
  fresh[At(x, y, width)] = here + rate * (around - 4.0f * here);
}
}  // namespace plate
