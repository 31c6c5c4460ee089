// corpus: declined "__CUDA_ARCH__"
// corpus: declined "__CUDA_ARCH__"
// corpus: nvcc-only (the host device has no architectures)
// What a kernel is depends on the architecture: in its text, and by a macro from elsewhere.
#include "support.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define FACTOR 3
#else
#define FACTOR 2
#endif

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void in_text(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (i < n) data[i] *= 3;
#else
  if (i < n) data[i] *= 2;
#endif
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void by_macro(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= FACTOR;
}

int main() {
  support::Array<int> data(256, 1, 1);
  in_text<<<4, 64>>>(data.get(), 256);
  by_macro<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
