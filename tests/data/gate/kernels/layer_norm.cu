// One thread a row, two passes for the variance.
namespace layers {
// cupilot: tune
// cupilot: workload rows grid=(3) block=(32) count=90 width=200 in=normal(3,2)[count*width] gain=normal(1,0.1)[width] bias=normal[width] out=[count*width]
__global__ void layer_norm(const float* in, const float* gain, const float* bias, float* out, int count, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  float sum = 0.0f;
  for (int i = 0; i < width; ++i) sum += in[row * width + i];
  const float mean = sum / width;
  float squares = 0.0f;
  for (int i = 0; i < width; ++i) {
    const float d = in[row * width + i] - mean;
    squares += d * d;
  }
  const float scale = 1.0f / sqrtf(squares / width + 1e-5f);
  for (int i = 0; i < width; ++i) {
    out[row * width + i] = (in[row * width + i] - mean) * scale * gain[i] + bias[i];
  }
}
}  // namespace layers
