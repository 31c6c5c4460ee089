// corpus: declined "'malloc': it allocates memory on the device"
// corpus: declined "it allocates memory on the device"
// corpus: nvcc-only (the host device has no heap of its own)
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 out=[n]
__global__ void by_malloc(int* out, int n) {
  int* own = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int k = 0; k < 4; ++k) own[k] = k;
  if (threadIdx.x < n) out[threadIdx.x] = own[threadIdx.x & 3];
  free(own);
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 out=[n]
__global__ void by_new(int* out, int n) {
  int* own = new int[4];
  own[threadIdx.x & 3] = 7;
  if (threadIdx.x < n) out[threadIdx.x] = own[threadIdx.x & 3];
  delete[] own;
}

int main() {
  support::Array<int> out(32);
  by_malloc<<<1, 32>>>(out.get(), 32);
  by_new<<<1, 32>>>(out.get(), 32);
  support::Show("out", out);
}
