#pragma once

template <class T>
__global__ void ScaleKernel(T* data, int n, T factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

void Scale(float* data, int n, float factor);
