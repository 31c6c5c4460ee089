// corpus: swapped
// Pointers to pointers, with no workload in the tag.
#include "support.cuh"

// cupilot: tune
__global__ void gather(const float* const* rows, float* (out)[], int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[blockIdx.x & 1][threadIdx.x + (blockIdx.x / 2) * 64] = rows[blockIdx.x][threadIdx.x];
}

int main() {
  support::Array<float> values(256, 1, 1), first(128), second(128);
  float* rows[6];
  for (int i = 0; i < 4; ++i) rows[i] = values.get() + 64 * (3 - i);
  rows[4] = first.get();
  rows[5] = second.get();
  float** on_device = nullptr;
  support::Check(cudaMalloc(reinterpret_cast<void**>(&on_device), sizeof rows));
  support::Check(cudaMemcpy(on_device, rows, sizeof rows, cudaMemcpyHostToDevice));
  gather<<<4, 64>>>(on_device, on_device + 4, 256);
  support::Show("first", first);
  support::Show("second", second);
}
