// corpus: swapped
// corpus: kernels 2
// A source that is built by a link in another folder: what it includes lies beside the link. One of
// those headers is a link, too, and has a kernel.
#include "support.cuh"
#include "symbolic_link.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void by_link(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = Linked(data[i]);
}

int main() {
  support::Array<int> data(256, 1, 1);
  by_link<<<4, 64>>>(data.get(), 256);
  linked<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
