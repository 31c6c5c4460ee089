// corpus: swapped
// corpus: kernels 3
// Default template arguments, template template parameters, and a kernel launched by a dependent name.
#include "support.cuh"

template <class T>
struct Plus {
  __device__ static T Of(T a, T b) { return a + b; }
};
template <class T>
struct Times {
  __device__ static T Of(T a, T b) { return a * b; }
};

namespace ops {

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 out=integers(1,9)[n]
template <class T, template <class> class Operation = Plus, int Unroll = 2>
__global__ void fold(T* out, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * Unroll;
  for (int k = 0; k < Unroll; ++k) {
    if (i + k < n) out[i + k] = Operation<T>::Of(out[i + k], T(k + 2));
  }
}

}  // namespace ops

template <class T>
struct Folder {
  static void Run(T* out, int n) {
    ops::fold<T><<<(n + 127) / 128, 64>>>(out, n);
    ops::fold<T, Times><<<(n + 127) / 128, 64>>>(out, n);
    ops::fold<T, Times, 4><<<(n + 255) / 256, 64>>>(out, n);
  }
};

int main() {
  support::Array<long long> out(300, 1, 3);
  Folder<long long>::Run(out.get(), 300);
  support::Show("out", out);
}
