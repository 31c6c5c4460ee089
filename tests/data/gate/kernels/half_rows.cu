// Sums of rows that are stored in half precision, added up in single precision.
#include <cuda_fp16.h>

// cupilot: tune
// cupilot: workload rows grid=(2) block=(32) count=50 width=640 in=normal[count*width] sums=[count]
__global__ void half_rows(const __half* in, float* sums, int count, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  float sum = 0.0f;
  for (int i = 0; i < width; ++i) sum += __half2float(in[row * width + i]);
  sums[row] = sum;
}
