// corpus: swapped
// Lines that end as on Windows.
#include "support.cuh"

#define ADD(a, b) \
  ((a) + \
   (b))

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 \
//   data=integers(0,9)[n]
__global__ void add_seven(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  /* a comment
     of two lines */
  if (i < n) data[i] = ADD(data[i], 7);
}

int main() {
  support::Array<int> data(256, 1, 1);
  add_seven<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
