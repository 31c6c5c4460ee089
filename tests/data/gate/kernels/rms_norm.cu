// Root mean square normalisation, one block a row.
// cupilot: tune
// cupilot: workload rows grid=(24) block=(128) width=500 eps=0.000001 in=normal[24*width] gain=normal(1,0.1)[width] out=[24*width]
__global__ void rms_norm(const float* in, const float* gain, float* out, int width, float eps) {
  __shared__ float partial[128];
  const float* row = in + blockIdx.x * width;
  float* to = out + blockIdx.x * width;
  const int me = threadIdx.x;
  float sum = 0.0f;
  for (int i = me; i < width; i += blockDim.x) sum += row[i] * row[i];
  partial[me] = sum;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (me < step) partial[me] += partial[me + step];
    __syncthreads();
  }
  const float scale = 1.0f / sqrtf(partial[0] / width + eps);
  for (int i = me; i < width; i += blockDim.x) to[i] = row[i] * scale * gain[i];
}
