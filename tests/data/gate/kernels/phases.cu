// Angles of complex numbers.
// cupilot: tune
// cupilot: workload all grid=(12) block=(128) n=1500 re=normal[n] im=normal[n] out=[n]
__global__ void phases(const float* re, const float* im, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = atan2f(im[i], re[i]);
}
