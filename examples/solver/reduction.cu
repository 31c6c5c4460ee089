#include "reduction.h"

#ifndef REDUCTION_BLOCK
#define REDUCTION_BLOCK 256
#endif

namespace solver {

// A tree in shared memory a block, and one atomic addition a block.
// cupilot: tune
// cupilot: tunable REDUCTION_BLOCK = 32, 64, 128, 256, 512
// cupilot: launch block=(REDUCTION_BLOCK) grid=(ceil_div(n,REDUCTION_BLOCK))
// cupilot: tolerance relative=1e-6
template <class Real>
__global__ void sum_of_squares(const Real* values, double* sum, int n) {
  __shared__ double partial[REDUCTION_BLOCK];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double value = i < n ? values[i] : 0;
  partial[threadIdx.x] = value * value;
  __syncthreads();
  for (int step = REDUCTION_BLOCK / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      partial[threadIdx.x] += partial[threadIdx.x + step];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Real>
void AddSumOfSquares(const DeviceArray<Real>& values, double* sum) {
  const int n = static_cast<int>(values.count());
  const int blocks = (n + REDUCTION_BLOCK - 1) / REDUCTION_BLOCK;
  sum_of_squares<Real><<<blocks, REDUCTION_BLOCK>>>(values.get(), sum, n);
  Check(cudaGetLastError(), "sum_of_squares");
}

template void AddSumOfSquares(const DeviceArray<float>& values, double* sum);
template void AddSumOfSquares(const DeviceArray<double>& values, double* sum);

}  // namespace solver
