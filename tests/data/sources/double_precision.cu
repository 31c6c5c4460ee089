// corpus: swapped
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 a=normal[n] b=normal[n] alpha=1e-3
__global__ void daxpy(const double* a, double* b, double alpha, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) b[i] = fma(alpha, a[i], exp(-fabs(b[i])) + sqrt(b[i] * b[i] + 1.0));
}

int main() {
  support::Array<double> a(256, 1, 0.1), b(256, -1, 0.03);
  daxpy<<<4, 64>>>(a.get(), b.get(), 1e-3, 256);
  support::Show("b", b);
}
