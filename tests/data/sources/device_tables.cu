// corpus: swapped
// Tables in device memory that nothing writes, one of them in a namespace without a name.
#include "support.cuh"

__device__ const short kSteps[2][3] = {{1, 2, 3}, {-4, -5, -6}};
namespace {
__device__ float gains[] = {0.5f, 1.0f, 2.0f, 4.0f};
}
namespace filled {
__device__ int offsets[8];
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=[n] global:offsets=integers(0,50)[8]
__global__ void look_up(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = kSteps[i & 1][i % 3] * gains[i & 3] + filled::offsets[i & 7];
}

int main() {
  const int offsets[8] = {10, 20, 30, 40, 50, 60, 70, 80};
  support::Check(cudaMemcpyToSymbol(filled::offsets, offsets, sizeof offsets));
  support::Array<float> out(256);
  look_up<<<4, 64>>>(out.get(), 256);
  support::Show("out", out);
}
