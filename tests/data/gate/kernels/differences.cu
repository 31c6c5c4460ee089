// Sums of absolute differences of blocks of bytes, as a search for motion has them.
// cupilot: tune
// cupilot: workload blocks grid=(2) block=(32) count=48 size=400 a=integers(0,255)[count*size] b=integers(0,255)[count*size] sums=[count]
__global__ void differences(const unsigned char* a, const unsigned char* b, unsigned* sums, int count, int size) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  unsigned sum = 0;
  for (int i = 0; i < size; ++i) sum += abs((int)a[k * size + i] - (int)b[k * size + i]);
  sums[k] = sum;
}
