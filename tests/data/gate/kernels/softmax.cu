// One block a row: the greatest value, the sum, the quotients.
// cupilot: tune
// cupilot: workload rows grid=(24) block=(64) count=24 width=500 in=normal[count*width] out=[count*width]
__global__ void softmax(const float* in, float* out, int count, int width) {
  __shared__ float part[64];
  const float* row = in + blockIdx.x * width;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < width; i += 64) most = fmaxf(most, row[i]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 64) sum += expf(row[i] - most);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  sum = part[0];
  for (int i = threadIdx.x; i < width; i += 64) out[blockIdx.x * width + i] = expf(row[i] - most) / sum;
}
