// Where a series takes another value.
// cupilot: tune
// cupilot: workload all grid=(24) block=(128) n=3000 in=normal[n] flag=[n]
__global__ void edges(const float* in, unsigned char* flag, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flag[i] = i == 0 || in[i] != in[i - 1];
}
