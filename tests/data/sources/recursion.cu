// corpus: swapped
// corpus: flags -Xptxas -suppress-stack-size-warning
// Device functions that call each other, before and after they are defined.
#include "support.cuh"

__device__ int Odd(int n);
__device__ int Even(int n) { return n == 0 ? 1 : Odd(n - 1); }
__device__ int Odd(int n) { return n == 0 ? 0 : Even(n - 1); }
__device__ int Fibonacci(int n) { return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2); }

// cupilot: tune
// cupilot: workload grid=2 block=64 n=128 out=[n]
__global__ void recursive(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Fibonacci(i % 12) * 10 + Even(i % 9);
}

int main() {
  support::Array<int> out(128);
  recursive<<<2, 64>>>(out.get(), 128);
  support::Show("out", out);
}
