// Whether any value of a row is below zero; who finds one says so.
// cupilot: tune
// cupilot: workload rows grid=(20) block=(64) rows=20 width=200 in=normal(3,1)[rows*width] any=[rows]
__global__ void any_below(const float* in, int* any, int rows, int width) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += 64) {
    if (in[blockIdx.x * width + i] < 0.0f) found = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) any[blockIdx.x] = found;
}
