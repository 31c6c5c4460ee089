// corpus: swapped
// corpus: kernels 3
// Parameter packs of types and of values.
#include "support.cuh"

__device__ inline float SumOf() { return 0; }
template <class First, class... Rest>
__device__ float SumOf(First first, Rest... rest) {
  return float(first) + SumOf(rest...);
}

template <int... Values>
struct Numbers {
  static __device__ int Pick(int i) {
    const int values[] = {Values...};
    return values[i % int(sizeof...(Values))];
  }
};

// cupilot: tune
template <class... Types>
__global__ void add_all(float* out, int n, Types... values) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += SumOf(values...) + float(sizeof...(Types));
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=normal[n]
template <int... Values>
__global__ void add_numbers(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += float(Numbers<Values...>::Pick(i));
}

int main() {
  support::Array<float> out(256, 1, 0.5);
  add_all<<<4, 64>>>(out.get(), 256, 1, 2.5f);
  add_all<<<4, 64>>>(out.get(), 256, 1u, 2.5, short(3));
  add_numbers<2, 3, 5, 7><<<4, 64>>>(out.get(), 256);
  support::Show("out", out);
}
