// corpus: swapped
// corpus: kernels 2
// corpus: also header_kernel_other.cu
// A kernel in a header that two sources of a program launch.
#include "header_kernel.cuh"

void RaiseElsewhere(int* data, int n);

int main() {
  support::Array<int> data(256, 1, 1);
  raise_by<<<4, 64>>>(data.get(), 10, 256);
  RaiseElsewhere(data.get(), 256);
  support::Show("data", data);
}
