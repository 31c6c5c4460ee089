// Numbers of very different sizes, added up in stripes.
// cupilot: tune
// cupilot: workload rows grid=(24) block=(32) count=24 width=1003 in=normal[count*width] sums=[count]
__global__ void scaled_sum(const float* in, float* sums, int count, int width) {
  const int row = blockIdx.x;
  if (row >= count) return;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) {
    sum += in[row * width + i] * exp2f((float)(i % 25 - 12));
  }
  for (int other = 16; other > 0; other /= 2) sum += __shfl_down_sync(0xffffffffu, sum, other);
  if (threadIdx.x == 0) sums[row] = sum;
}
