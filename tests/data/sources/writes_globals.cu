// corpus: swapped
// corpus: declined "it writes the device variable 'total'"
// corpus: declined "it writes the device variable 'history'"
// Two kernels that leave something behind in device variables, and one that only reads them.
#include "support.cuh"

__device__ int total = 3;
__device__ int history[4] = {1, 2, 3, 4};

__device__ void Remember(int* slots, int value) { slots[value & 3] = value; }

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 in=integers(0,9)[n]
__global__ void add_up(const int* in, int n) {
  if (threadIdx.x < n) atomicAdd(&total, in[threadIdx.x]);
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 in=integers(0,9)[n]
__global__ void remember(const int* in, int n) {
  if (threadIdx.x < n && threadIdx.x == 5) Remember(history, in[5]);
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 out=[n] global:total=integers(0,9) global:history=integers(0,9)
__global__ void show(int* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = total + history[threadIdx.x & 3];
}

int main() {
  support::Array<int> in(32, 1, 1), out(32);
  add_up<<<1, 32>>>(in.get(), 32);
  remember<<<1, 32>>>(in.get(), 32);
  show<<<1, 32>>>(out.get(), 32);
  support::Show("out", out);
}
