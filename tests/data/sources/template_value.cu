// corpus: swapped
// corpus: kernels 4
// Numbers, booleans and enumerators as template arguments.
#include "support.cuh"

enum class Mode : unsigned char { kAdd, kMultiply };

// cupilot: tune
// cupilot: workload grid=4 block=Threads n=256 data=integers(0,9)[n]
template <int Threads, bool Twice>
__global__ void __launch_bounds__(Threads) shift(int* data, int n) {
  __shared__ int left[Threads];
  int i = blockIdx.x * Threads + threadIdx.x;
  left[threadIdx.x] = i < n ? data[i] : 0;
  __syncthreads();
  int from = threadIdx.x == 0 ? Threads - 1 : threadIdx.x - 1;
  if (i < n) data[i] = left[from] * (Twice ? 2 : 1);
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
template <Mode Which, unsigned long long Value>
__global__ void apply(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  data[i] = Which == Mode::kAdd ? data[i] + int(Value) : data[i] * int(Value & 7);
}

int main() {
  support::Array<int> data(256, 1, 1);
  shift<64, false><<<4, 64>>>(data.get(), 256);
  shift<32, (1 > 0)><<<8, 32>>>(data.get(), 256);
  apply<Mode::kAdd, 5><<<4, 64>>>(data.get(), 256);
  apply<Mode::kMultiply, 0x100000003ull><<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
