// corpus: swapped
// corpus: kernels 2
#include "support.cuh"

#define THREADS(x) ((x) * 2)
constexpr int kWarps = 4;
constexpr int Least(int value) { return value > 2 ? 2 : value; }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ __launch_bounds__(THREADS(32) + (kWarps << 4), Least(sizeof(double))) void first(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__launch_bounds__(128)
static
__global__
void second(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 3;
}

int main() {
  support::Array<int> data(256, 1, 1);
  first<<<4, 64>>>(data.get(), 256);
  second<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
