// Softmax of rows, in half precision throughout.
#include <cuda_fp16.h>

// cupilot: tune
// cupilot: workload rows grid=(2) block=(32) count=60 width=100 in=normal[count*width] out=[count*width]
__global__ void half_softmax(const __half* in, __half* out, int count, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  const __half* from = in + row * width;
  __half most = from[0];
  for (int i = 1; i < width; ++i) most = __hmax(most, from[i]);
  __half sum = __float2half(0.0f);
  for (int i = 0; i < width; ++i) sum = __hadd(sum, hexp(__hsub(from[i], most)));
  for (int i = 0; i < width; ++i) out[row * width + i] = __hdiv(hexp(__hsub(from[i], most)), sum);
}
