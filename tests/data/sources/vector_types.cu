// corpus: swapped
// CUDA's vector types as elements, parameters and results.
#include "support.cuh"

__device__ inline float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// cupilot: tune
__global__ void combine(const float4* __restrict__ a, float4* b, float4 bias, int2 range, uchar4 mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i < range.x || i >= range.y) return;
  float4 value = __ldg(a + i) + bias;
  if (mask.z != 0) value.z = float(mask.z);
  reinterpret_cast<float2*>(b)[2 * i] = make_float2(value.x, value.y);
  reinterpret_cast<float2*>(b)[2 * i + 1] = make_float2(value.z, value.w);
}

int main() {
  support::Array<float> a(1024, 1, 0.5), b(1024);
  combine<<<4, 64>>>(reinterpret_cast<const float4*>(a.get()), reinterpret_cast<float4*>(b.get()),
                     make_float4(1, 2, 3, 4), make_int2(10, 240), make_uchar4(0, 1, 200, 3), 256);
  support::Show("b", b);
}
