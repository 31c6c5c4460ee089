// corpus: declined "it uses the managed variable 'shared_scale'"
// corpus: nvcc-only (the host device's compiler is not asked: managed variables are seen by both sides)
#include "support.cuh"

__managed__ float shared_scale = 2.0f;

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=normal[n]
__global__ void scale(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= shared_scale;
}

int main() {
  support::Array<float> data(256, 1, 0.5);
  shared_scale = 3.0f;
  scale<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
