// The mean loss of each sample.
// cupilot: tune
// cupilot: workload samples grid=(60) block=(32) samples=60 width=256 delta=1 guess=normal[samples*width] truth=normal[samples*width] loss=[samples]
__global__ void huber(const float* guess, const float* truth, float* loss, float delta, int samples, int width) {
  __shared__ float part[32];
  const int base = blockIdx.x * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) {
    const float d = fabsf(guess[base + i] - truth[base + i]);
    sum += d <= delta ? 0.5f * d * d : delta * (d - 0.5f * delta);
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 32; ++t) sum += part[t];
  loss[blockIdx.x] = sum / width;
}
