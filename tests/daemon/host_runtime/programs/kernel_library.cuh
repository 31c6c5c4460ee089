// Kernels in a header, as libraries have them.
#pragma once

#include <cuda_runtime.h>

namespace library {

template <class T>
__global__ void Scale(T* data, int n, T factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

// The launch itself is in a template in a header.
template <class T>
void ScaleAll(T* data, int n, T factor) {
  const int block = 32;
  Scale<<<(n + block - 1) / block, block>>>(data, n, factor);
}

template <class T, template <class> class Operation>
__global__ void Apply(T* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = Operation<T>()(data[i]);
}

inline __global__ void InlineKernel(int* out) { *out = 77; }

}  // namespace library
