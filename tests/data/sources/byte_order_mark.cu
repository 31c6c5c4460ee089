// corpus: swapped
// A file that begins with a byte order mark, and includes one that does.
#include "byte_order_mark.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void marked(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = Marked(data[i]);
}

int main() {
  support::Array<int> data(256, 1, 1);
  marked<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
