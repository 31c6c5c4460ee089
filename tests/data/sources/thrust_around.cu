// corpus: swapped
// corpus: nvcc-only (the host device has no Thrust)
// corpus: standards 17
// A kernel beside Thrust's, with a function object that both use.
#include <thrust/device_ptr.h>
#include <thrust/transform_reduce.h>

#include "support.cuh"

struct Square {
  __host__ __device__ long long operator()(int value) const { return 1LL * value * value; }
};

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void squares(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = int(Square()(data[i]));
}

int main() {
  support::Array<int> data(256, 1, 1);
  squares<<<4, 64>>>(data.get(), 256);
  thrust::device_ptr<int> begin(data.get());
  const long long sum = thrust::transform_reduce(begin, begin + 256, Square(), 0LL, thrust::plus<long long>());
  std::printf("%lld\n", sum);
}
