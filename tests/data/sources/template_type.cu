// corpus: swapped
// corpus: kernels 3
// One kernel for several types: tuned for each that is launched, double being spelled twice.
#include "support.cuh"

typedef double Wide;

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 factor=3 data=integers(0,9)[n]
template <class T>
__global__ void scale(T* data, T factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + T(1);
}

int main() {
  support::Array<float> floats(256, 0.5, 0.25);
  support::Array<int> ints(256, 1, 2);
  support::Array<double> doubles(256, 0.1, 0.1);
  scale<<<4, 64>>>(floats.get(), 2.5f, 256);
  scale<int><<<4, 64>>>(ints.get(), 3, 256);
  scale<Wide><<<4, 64>>>(doubles.get(), 0.3, 256);
  scale<<<2, 64>>>(doubles.get(), 2.0, 100);
  support::Show("floats", floats);
  support::Show("ints", ints);
  support::Show("doubles", doubles);
}
