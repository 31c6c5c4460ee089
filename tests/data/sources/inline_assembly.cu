// corpus: swapped
// corpus: nvcc-only (the host device runs no PTX)
#include "support.cuh"

__device__ __forceinline__ int MultiplyAdd(int a, int b, int c) {
  int result;
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,99)[n] out=[n]
__global__ void multiply_add(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int lane;
  asm volatile("mov.u32 %0, %%laneid;\n\t"
               "// { a brace and a \" in a comment"
               : "=r"(lane));
  out[i] = MultiplyAdd(in[i], 3, lane);
}

int main() {
  support::Array<int> in(256, 1, 1), out(256);
  multiply_add<<<4, 64>>>(in.get(), out.get(), 256);
  support::Show("out", out);
}
