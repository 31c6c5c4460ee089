// corpus: swapped
// corpus: kernels 3
// corpus: also wrapper_in_header_other.cu
// corpus: idle 1
// A template wrapper in a header launches the kernels of the sources that include it. A program has
// one of each instantiation, so that one object launches for both.
#include "wrapper_in_header.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] by=3
__global__ void add(int* data, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += by;
}

void RunOther(int* data, int n);

int main() {
  support::Array<int> data(256, 1, 1);
  wrapper::Launch(&add, 256, data.get(), 256, 5);
  wrapper::Fill(data.get(), 100, 3);
  RunOther(data.get(), 256);
  support::Show("data", data);
}
