// The median of five neighbours in a row; the two outermost values of each side are left alone.
// cupilot: tune
// cupilot: workload lines grid=(4,20) block=(64) width=220 height=20 in=normal[width*height] out=[width*height]
__global__ void median(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (y >= height || x < 2 || x >= width - 2) return;
  float v[5];
  for (int k = 0; k < 5; ++k) v[k] = in[y * width + x + k - 2];
  for (int i = 1; i < 5; ++i) {
    for (int j = i; j > 0 && v[j] < v[j - 1]; --j) {
      const float t = v[j];
      v[j] = v[j - 1];
      v[j - 1] = t;
    }
  }
  out[y * width + x] = v[2];
}
