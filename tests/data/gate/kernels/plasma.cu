// A response in double precision with a rare regime.
// cupilot: tune
// cupilot: workload all grid=(12) block=(128) n=1500 t=uniform(0,100)[n] out=[n]
__global__ void plasma(const double* t, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = t[i];
  out[i] = x > 1e20 ? 3.0 * log(x) : x < -1e6 ? -1.0 : x / (1.0 + x * x);
}
