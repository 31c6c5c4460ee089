// Values of a curve that is given by a table, added up by rows. Places are in [0, 1).
// cupilot: tune
// cupilot: workload rows grid=(4) block=(256) width=6000 table=normal[257] at=uniform[4*width] sums=[4]
__global__ void curve_means(const float* table, const float* at, float* sums, int width) {
  __shared__ float part[256];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 256) {
    const float t = at[blockIdx.x * width + i] * 256.0f;
    const int k = (int)t;
    sum += table[k] + (t - k) * (table[k + 1] - table[k]);
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
