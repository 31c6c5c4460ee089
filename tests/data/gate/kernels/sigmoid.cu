// Element by element.
// cupilot: tune
// cupilot: workload all grid=(20) block=(256) n=4801 in=normal(0,3)[n] out=[n]
__global__ void sigmoid(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1.0f / (1.0f + expf(-in[i]));
}
