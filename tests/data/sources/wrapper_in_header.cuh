#pragma once
#include "support.cuh"

namespace wrapper {

template <class... Parameters, class... Arguments>
inline void Launch(void (*kernel)(Parameters...), int threads, Arguments... arguments) {
  kernel<<<(threads + 63) / 64, 64>>>(arguments...);
}

namespace detail {
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] value=3
template <class T>
__global__ void fill(T* data, int n, T value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = value;
}
}  // namespace detail

template <class T>
void Fill(T* data, int n, T value) {
  Launch(detail::fill<T>, n, data, n, value);
}

}  // namespace wrapper
