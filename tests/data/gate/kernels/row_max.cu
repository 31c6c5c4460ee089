// The greatest value of each row; a row with NaN gives the greatest of the others.
// cupilot: tune
// cupilot: workload rows grid=(2) block=(64) count=100 width=300 in=uniform(0,1)[count*width] most=[count]
__global__ void row_max(const float* in, float* most, int count, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  float best = -INFINITY;
  for (int i = 0; i < width; ++i) best = fmaxf(best, in[row * width + i]);
  most[row] = best;
}
