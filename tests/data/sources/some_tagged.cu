// corpus: swapped
// corpus: kernels 2
// Tagged and untagged kernels that share device functions; one has a tag without 'tune'.
#include "support.cuh"

__device__ int Step(int value) { return value * 5 + 1; }

__global__ void untagged(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = Step(data[i]) & 1023;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void tagged(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = Step(data[i]) & 511;
}

// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void half_tagged(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = Step(data[i]) & 255;
}

__device__ int Twice(int value);

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void also_tagged(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = Twice(Step(data[i])) & 127;
}

__device__ int Twice(int value) { return 2 * value; }

int main() {
  support::Array<int> data(256, 1, 1);
  untagged<<<4, 64>>>(data.get(), 256);
  tagged<<<4, 64>>>(data.get(), 256);
  half_tagged<<<4, 64>>>(data.get(), 256);
  also_tagged<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
