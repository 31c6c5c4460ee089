// corpus: swapped
// corpus: kernels 3
// Kernels that macros write, in whole or in part, and launch.
#include "support.cuh"

#define KERNEL(name) __global__ void name
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define EACH(i, n) for (int i = AT; i < (n); i += int(gridDim.x * blockDim.x))
#define DEFINE_BINARY(name, operation)                    \
  __global__ void binary_##name(const int* a, int* b, int n) { \
    EACH(i, n) { b[i] = a[i] operation b[i]; }            \
  }
#define LAUNCH(kernel, blocks, ...) kernel<<<blocks, 64>>>(__VA_ARGS__)

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 a=integers(0,9)[n] b=integers(0,9)[n]
DEFINE_BINARY(add, +)

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 a=integers(0,9)[n] b=integers(0,9)[n]
DEFINE_BINARY(times, *)

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
KERNEL(negate)(int* data, int n) {
  EACH(i, n) data[i] = -data[i];
}

#undef EACH
#define EACH(i, n) this is not C++

int main() {
  support::Array<int> a(256, 1, 1), b(256, 3, 2);
  LAUNCH(binary_add, 4, a.get(), b.get(), 256);
  LAUNCH(binary_times, 2, a.get(), b.get(), 256);
  LAUNCH(negate, 1, b.get(), 200);
  support::Show("b", b);
}
