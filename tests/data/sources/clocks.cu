// corpus: declined "'clock64': it reads a clock"
// corpus: declined "'clock': it reads a clock"
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 data=integers(0,9)[n] ticks=[n]
__global__ void timed(int* data, long long* ticks, int n) {
  const long long begin = clock64();
  if (threadIdx.x < n) data[threadIdx.x] *= 3;
  if (threadIdx.x < n) ticks[threadIdx.x] = clock64() - begin;
}

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 data=integers(0,9)[n]
__global__ void seeded(int* data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] = int(clock() & 0) + data[threadIdx.x];
}

int main() {
  support::Array<int> data(32, 1, 1);
  support::Array<long long> ticks(32);
  timed<<<1, 32>>>(data.get(), ticks.get(), 32);
  seeded<<<1, 32>>>(data.get(), 32);
  support::Show("data", data);
}
