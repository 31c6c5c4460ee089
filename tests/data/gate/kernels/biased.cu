// cupilot: tune
// cupilot: workload all grid=(10) block=(128) n=1200 in=normal[n] bias=constant(0)[n] out=[n]
__global__ void biased(const float* in, const float* bias, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + bias[i];
}
