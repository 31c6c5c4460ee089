// corpus: swapped
// corpus: nvcc-only (the host device has no parameter memory that stays where it is)
#include "support.cuh"

struct Plan {
  int offsets[16];
  float scale;
};

__device__ float At(const Plan& plan, int i) { return plan.scale * plan.offsets[i & 15]; }

// cupilot: tune
__global__ void follow(const __grid_constant__ Plan plan, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = At(plan, i);
}

int main() {
  Plan plan;
  for (int i = 0; i < 16; ++i) plan.offsets[i] = i * i;
  plan.scale = 0.5f;
  support::Array<float> out(256);
  follow<<<4, 64>>>(plan, out.get(), 256);
  support::Show("out", out);
}
