// corpus: swapped
// Lambdas inside device code, with captures, handed on to templates.
#include "support.cuh"

template <class F>
__device__ int Fold(int count, F f) {
  int value = 0;
  for (int k = 0; k < count; ++k) value = f(value, k);
  return value;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] out=[n]
__global__ void fold(const int* in, int* out, int n) {
  auto index = [] { return int(blockIdx.x * blockDim.x + threadIdx.x); };
  const int i = index();
  if (i >= n) return;
  int calls = 0;
  const int folded = Fold(in[i] & 7, [=, &calls](int value, int k) mutable -> int {
    ++calls;
    return value * 2 + in[(i + k) % n];
  });
  out[i] = folded + calls;
}

int main() {
  support::Array<int> in(256, 1, 1), out(256);
  fold<<<4, 64>>>(in.get(), out.get(), 256);
  support::Show("out", out);
}
