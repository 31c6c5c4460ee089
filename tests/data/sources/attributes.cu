// corpus: swapped
// corpus: kernels 5
// Attributes and qualifiers in every order that is allowed.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] out=[n]
void __global__ after_type(const int* const __restrict__ in, int* __restrict__ out, const int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] out=integers(0,9)[n]
__attribute__((used)) __global__ void gnu_attribute(int const* __restrict in, int out[], unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += in[i];
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=integers(0,9)[n]
[[gnu::noinline]] __global__ void standard_attribute(int (out)[256], unsigned long n) {
  unsigned long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] -= 1;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=integers(0,9)[n]
__global__ __attribute__((flatten)) void flattened(int* out, signed n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] ^= 5;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=integers(0,9)[n]
__global__ auto trailing(int* out, int n) -> void {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += i & 3;
}

int main() {
  support::Array<int> in(256, 1, 1), out(256);
  after_type<<<4, 64>>>(in.get(), out.get(), 256);
  gnu_attribute<<<4, 64>>>(in.get(), out.get(), 256);
  standard_attribute<<<4, 64>>>(out.get(), 256);
  flattened<<<4, 64>>>(out.get(), 256);
  trailing<<<4, 64>>>(out.get(), 256);
  support::Show("out", out);
}
