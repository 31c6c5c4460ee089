// corpus: swapped
// corpus: kernels 2
// corpus: flags --extended-lambda
// Lambdas for host and device: with captures the compiler's object holds more than these.
#include "support.cuh"

// cupilot: tune
template <class F>
__global__ void apply(float* data, int n, F f, float last) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = f(data[i], i) + last;
}

template <class F>
void Everywhere(support::Array<float>& data, F f) {
  apply<<<4, 64>>>(data.get(), 256, f, 0.125f);
  support::Show("data", data);
  std::printf("host %g\n", double(f(2.0f, 3)));
}

namespace curves {

void Run(support::Array<float>& data, const float* weights) {
  const float factor = 0.5f;
  const char count = 16;
  Everywhere(data, [=] __host__ __device__(float x, int i) {
    return weights == nullptr ? x : x * factor + i % count;
  });
  Everywhere(data, [] __host__ __device__(float x, int) { return x > 2 ? x - 2 : x; });
}

}  // namespace curves

int main() {
  support::Array<float> data(256, 0.5, 0.125), weights(4, 1, 1);
  curves::Run(data, weights.get());
}
