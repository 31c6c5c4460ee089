// Symmetric quantisation to eight bits, one scale a row.
// cupilot: tune
// cupilot: workload rows grid=(40) block=(64) width=301 in=normal(0,2)[40*width] out=[40*width] scale=[40]
__global__ void quantize_rows(const float* in, signed char* out, float* scale, int width) {
  __shared__ float cell[64];
  const float* row = in + blockIdx.x * width;
  signed char* to = out + blockIdx.x * width;
  const int me = threadIdx.x;
  float top = 0.0f;
  for (int i = me; i < width; i += blockDim.x) top = fmaxf(top, fabsf(row[i]));
  cell[me] = top;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (me < step) cell[me] = fmaxf(cell[me], cell[me + step]);
    __syncthreads();
  }
  const float unit = cell[0] > 0.0f ? cell[0] / 127.0f : 1.0f;
  if (me == 0) scale[blockIdx.x] = unit;
  for (int i = me; i < width; i += blockDim.x) {
    to[i] = (signed char)(int)rintf(fmaxf(-127.0f, fminf(127.0f, row[i] / unit)));
  }
}
