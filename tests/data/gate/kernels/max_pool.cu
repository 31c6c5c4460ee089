// Maximum over windows of an image with the index of the maximum; a NaN in a window is its result.
// cupilot: tune
// cupilot: workload image grid=(4,4,3) block=(8,8) height=61 width=58 size=3 stride=2 pad=1 in=normal[3*height*width] out=[3*((height+2*pad-size)/stride+1)*((width+2*pad-size)/stride+1)] where=[3*((height+2*pad-size)/stride+1)*((width+2*pad-size)/stride+1)]
__global__ void max_pool(const float* in, float* out, int* where, int height, int width, int size, int stride, int pad) {
  const int columns = (width + 2 * pad - size) / stride + 1;
  const int lines = (height + 2 * pad - size) / stride + 1;
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int plane = blockIdx.z;
  if (x >= columns || y >= lines) return;
  const float* from = in + plane * height * width;
  const int left = max(x * stride - pad, 0);
  const int right = min(x * stride - pad + size, width);
  const int upper = max(y * stride - pad, 0);
  const int lower = min(y * stride - pad + size, height);
  int at = upper * width + left;
  float best = from[at];
  for (int v = upper; v < lower; ++v) {
    for (int u = left; u < right; ++u) {
      const float value = from[v * width + u];
      if (value > best || value != value) {
        best = value;
        at = v * width + u;
      }
    }
  }
  out[(plane * lines + y) * columns + x] = best;
  where[(plane * lines + y) * columns + x] = at;
}
