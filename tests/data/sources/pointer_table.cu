// corpus: swapped
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 rows=pointers(4, 256) out=[n]
__global__ void gather(float** rows, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = rows[blockIdx.x][threadIdx.x];
}

int main() {
  support::Array<float> values(256, 1, 1), out(256);
  float* rows[4];
  for (int i = 0; i < 4; ++i) rows[i] = values.get() + 64 * (3 - i);
  float** on_device = nullptr;
  support::Check(cudaMalloc(reinterpret_cast<void**>(&on_device), sizeof rows));
  support::Check(cudaMemcpy(on_device, rows, sizeof rows, cudaMemcpyHostToDevice));
  gather<<<4, 64>>>(on_device, out.get(), 256);
  support::Show("out", out);
}
