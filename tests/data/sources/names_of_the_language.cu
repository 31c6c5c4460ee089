// corpus: swapped
// corpus: kernels 2
// Parameters with the names of library functions, of device functions beside them, and of the kernel.
#include <cmath>

#include "support.cuh"

__device__ float max_of(float a, float b) { return a > b ? a : b; }
__device__ float sum = 0.25f;

// cupilot: tune
// cupilot: workload grid=4 block=64 abs=normal[index] y0=normal[index] index=256
__global__ void sqrt_all(const float* abs, float* y0, int index) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= index) return;
  const float sum = ::fabsf(abs[i]) + ::sum;
  y0[i] = max_of(::sqrtf(sum), y0[i]);
}

// cupilot: tune
// cupilot: workload grid=4 block=64 same=integers(0,9)[n] n=256
__global__ void same(int* same, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) same[i] += n;
}

int main() {
  support::Array<float> in(256, -2, 0.25), out(256, 0.5, 0.01);
  support::Array<int> ints(256, 1, 1);
  sqrt_all<<<4, 64>>>(in.get(), out.get(), 256);
  same<<<4, 64>>>(ints.get(), 256);
  support::Show("out", out);
  support::Show("ints", ints);
}
