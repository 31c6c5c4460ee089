// The triplet margin loss: near zero differences of two distances, and a margin.
// cupilot: tune
// cupilot: workload samples grid=(2) block=(32) samples=64 width=128 margin=1 anchor=uniform(0,1)[samples*width] positive=uniform(0,1)[samples*width] negative=uniform(0,1)[samples*width] loss=[samples]
__global__ void triplet(const float* anchor, const float* positive, const float* negative, float* loss, float margin,
                        int samples, int width) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= samples) return;
  float near = 0.0f, far = 0.0f;
  for (int i = 0; i < width; ++i) {
    const float p = anchor[s * width + i] - positive[s * width + i];
    const float q = anchor[s * width + i] - negative[s * width + i];
    near += p * p;
    far += q * q;
  }
  loss[s] = fmaxf(0.0f, sqrtf(near) - sqrtf(far) + margin);
}
