// corpus: swapped
// corpus: kernels 3
// Kernels of one name; a host function has it, too.
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=normal[n]
__global__ void step(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 0.5f;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void step(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 2;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] by=3
__global__ void step(int* data, int n, short by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] -= by;
}

void step(double value) { std::printf("host %g\n", value); }

int main() {
  support::Array<float> floats(256, 1, 0.5);
  support::Array<int> ints(256, 1, 1);
  step<<<4, 64>>>(floats.get(), 256);
  step<<<4, 64>>>(ints.get(), 256);
  step<<<4, 64>>>(ints.get(), 250, short(7));
  step(1.5);
  support::Show("floats", floats);
  support::Show("ints", ints);
}
