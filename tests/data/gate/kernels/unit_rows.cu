// Rows divided by their length; a row of zeros stays one.
// cupilot: tune
// cupilot: workload rows grid=(30) block=(32) rows=30 width=64 in=normal[rows*width] out=[rows*width]
__global__ void unit_rows(const float* in, float* out, int rows, int width) {
  __shared__ float part[32];
  const float* from = in + blockIdx.x * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) sum += from[i] * from[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int k = 0; k < 32; ++k) sum += part[k];
  const float length = sqrtf(sum);
  for (int i = threadIdx.x; i < width; i += 32) out[blockIdx.x * width + i] = length == 0.0f ? 0.0f : from[i] / length;
}
