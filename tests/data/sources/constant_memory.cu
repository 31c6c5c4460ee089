// corpus: swapped
// Tables in constant memory that functions take by reference.
#include "support.cuh"

struct Material {
  float density;
  short kind;
  unsigned char colour[3];
};

__constant__ Material materials[4] = {
    {1.5f, 1, {1, 2, 3}}, {2.5f, 2, {4, 5, 6}}, {3.5f, 3, {7, 8, 9}}, {4.5f, 4, {10, 11, 12}}};
__constant__ float weights[8];

__device__ float Value(const Material& material, int channel) {
  return material.density * material.kind + material.colour[channel];
}

template <int Count>
__device__ float Sum(const float (&values)[Count]) {
  float sum = 0;
  for (int i = 0; i < Count; ++i) sum += values[i];
  return sum;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 kinds=integers(0,3)[n] out=[n] global:weights=normal[8]
__global__ void shade(const int* kinds, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Value(materials[kinds[i] & 3], i % 3) * Sum(weights);
}

int main() {
  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  support::Check(cudaMemcpyToSymbol(weights, values, sizeof values));
  support::Array<int> kinds(256, 0, 1);
  support::Array<float> out(256);
  shade<<<4, 64>>>(kinds.get(), out.get(), 256);
  support::Show("out", out);
}
