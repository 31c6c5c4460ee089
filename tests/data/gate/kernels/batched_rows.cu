// Each matrix of a batch times its vector, all behind tables of pointers.
// cupilot: tune
// cupilot: workload all grid=(batch) block=(64) n=60 batch=6 a=pointers(batch,4*n*n,normal) x=pointers(batch,4*n,normal) y=out pointers(batch,4*n)
__global__ void batched_rows(const float* const* a, const float* const* x, float* const* y, int n, int batch) {
  const int row = threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[blockIdx.x][row * n + k] * x[blockIdx.x][k];
  y[blockIdx.x][row] = sum;
}
