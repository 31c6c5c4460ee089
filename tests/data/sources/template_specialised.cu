// corpus: swapped
// corpus: kernels 3
// An explicit specialisation, an explicit instantiation and an implicit one of a kernel template.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
template <class T>
__global__ void halve(T* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] / 2;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
template <>
__global__ void halve<unsigned>(unsigned* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = (data[i] >> 1) + 1000;
}

template __global__ void halve<double>(double* data, int n);

int main() {
  support::Array<int> ints(256, 1, 3);
  support::Array<unsigned> numbers(256, 1, 3);
  support::Array<double> doubles(256, 1, 3);
  halve<<<4, 64>>>(ints.get(), 256);
  halve<<<4, 64>>>(numbers.get(), 256);
  halve<<<4, 64>>>(doubles.get(), 256);
  support::Show("ints", ints);
  support::Show("numbers", numbers);
  support::Show("doubles", doubles);
}
