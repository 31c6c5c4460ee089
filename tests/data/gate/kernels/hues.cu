// The hue of colours; of grey it is zero.
// cupilot: tune
// cupilot: workload all grid=(12) block=(128) n=1500 in=uniform[3*n] out=[n]
__global__ void hues(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2];
  const float most = fmaxf(r, fmaxf(g, b)), least = fminf(r, fminf(g, b)), range = most - least;
  float hue = 0.0f;
  if (most == least) hue = 0.0f;
  else if (most == r) hue = (g - b) / range + (g < b ? 6.0f : 0.0f);
  else if (most == g) hue = (b - r) / range + 2.0f;
  else hue = (r - g) / range + 4.0f;
  out[i] = hue;
}
