// In place.
// cupilot: tune
// cupilot: workload all grid=(40) block=(128) n=5000 a=1.75 x=normal[n] y=inout normal[n]
// cupilot: workload short grid=(3) block=(128) n=261 a=-0.3 x=normal[n] y=inout normal[n]
__global__ void axpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
