// corpus: swapped
// corpus: flags --extended-lambda
// A lambda with a pointer and a number, both captured by copy.
#include "support.cuh"

// cupilot: tune
template <class F>
__global__ void for_each(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

int main() {
  support::Array<int> data(256, 1, 1);
  int* values = data.get();
  const int add = 5;
  for_each<<<4, 64>>>(256, [=] __device__(int i) { values[i] += add; });
  support::Show("data", data);
}
