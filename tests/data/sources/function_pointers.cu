// corpus: declined "calls through a pointer to a function"
// corpus: declined "calls through a pointer to a function"
// corpus: declined "calls through a pointer to a member"
#include "support.cuh"

typedef int (*Operation)(int);
__device__ int Twice(int value) { return 2 * value; }
__device__ int Next(int value) { return value + 1; }

// cupilot: tune
__global__ void apply(Operation operation, int* data, int n) {
  if (threadIdx.x < n && operation != 0) data[threadIdx.x] = operation(data[threadIdx.x]);
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 which=1 data=integers(0,9)[n]
__global__ void choose(int which, int* data, int n) {
  const Operation operations[] = {Twice, &Next};
  if (threadIdx.x < n) data[threadIdx.x] = operations[which & 1](data[threadIdx.x]);
}

struct Counter {
  int step;
  __device__ int Up(int value) const { return value + step; }
  __device__ int Down(int value) const { return value - step; }
};

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 up=1 data=integers(0,9)[n]
__global__ void count(int up, int* data, int n) {
  int (Counter::*member)(int) const = up != 0 ? &Counter::Up : &Counter::Down;
  const Counter counter = {3};
  if (threadIdx.x < n) data[threadIdx.x] = (counter.*member)(data[threadIdx.x]);
}

int main() {
  support::Array<int> data(32, 1, 1);
  apply<<<1, 32>>>(0, data.get(), 32);
  choose<<<1, 32>>>(1, data.get(), 32);
  count<<<1, 32>>>(0, data.get(), 32);
  support::Show("data", data);
}
