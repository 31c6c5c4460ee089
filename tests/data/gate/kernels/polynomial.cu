// In double precision, as it is wanted here.
// cupilot: tune
// cupilot: workload all grid=(16) block=(128) n=2000 terms=12 x=normal[n] c=normal[terms] out=[n]
__global__ void polynomial(const double* x, const double* c, double* out, int n, int terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0.0;
  for (int t = terms - 1; t >= 0; --t) sum = sum * x[i] + c[t];
  out[i] = sum;
}
