// The mean of those values of a row that a mask selects; 0 where it selects none.
// cupilot: tune
// cupilot: workload rows grid=(2) block=(32) count=60 width=300 in=normal(5,1)[count*width] mask=integers(0,3)[count*width] mean=[count]
__global__ void masked_mean(const float* in, const unsigned char* mask, float* mean, int count, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  float sum = 0.0f;
  int selected = 0;
  for (int i = 0; i < width; ++i) {
    if (mask[row * width + i] == 0) continue;
    sum += in[row * width + i];
    ++selected;
  }
  mean[row] = selected > 0 ? sum / selected : 0.0f;
}
