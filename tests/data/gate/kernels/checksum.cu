// Each block's words mixed into one, which every bit and every place counts for.
// cupilot: tune
// cupilot: workload blocks grid=(12) block=(64) n=6000 words=integers(0,2147483647)[n] sums=[12]
__global__ void checksum(const unsigned* words, unsigned* sums, int n) {
  __shared__ unsigned part[64];
  unsigned sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) {
    unsigned w = words[i] ^ (unsigned)i;
    w *= 2654435769u;
    w ^= w >> 15;
    sum += w * 2246822519u;
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int t = 1; t < 64; ++t) sum += part[t];
    sums[blockIdx.x] = sum;
  }
}
