// corpus: swapped
// corpus: kernels 3
// Function objects by value: empty ones whose tag says so, and one that holds something.
#include "support.cuh"

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};
struct Negate {
  __host__ __device__ float operator()(float x) const { return -x; }
};
struct AddTo {
  float amount;
  __host__ __device__ float operator()(float x) const { return x + amount; }
};

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=normal[n] f={}
template <typename F>
__global__ void transform(float* data, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = f(data[i]);
}

int main() {
  support::Array<float> data(256, 0.5, 0.125);
  transform<<<4, 64>>>(data.get(), 256, Square());
  transform<<<4, 64>>>(data.get(), 256, Negate());
  transform<<<4, 64>>>(data.get(), 256, AddTo{3.5f});
  support::Show("data", data);
}
