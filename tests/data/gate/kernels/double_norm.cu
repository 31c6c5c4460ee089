// Rows scaled by the root of their sum of squares, all in double.
// cupilot: tune
// cupilot: workload rows grid=(50) block=(128) width=500 in=normal[50*width] out=[50*width]
__global__ void double_norm(const double* in, double* out, int width) {
  __shared__ double part[128];
  const double* from = in + blockIdx.x * width;
  double sum = 0.0;
  for (int i = threadIdx.x; i < width; i += 128) sum += from[i] * from[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int lanes = 64; lanes > 0; lanes /= 2) {
    if (threadIdx.x < lanes) part[threadIdx.x] += part[threadIdx.x + lanes];
    __syncthreads();
  }
  const double root = sqrt(part[0] + 1e-12);
  for (int i = threadIdx.x; i < width; i += 128) out[blockIdx.x * width + i] = from[i] / root;
}
