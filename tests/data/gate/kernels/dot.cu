// The product of two vectors, each block's part added to what is there.
// cupilot: tune
// cupilot: workload all grid=(10) block=(128) n=4000 a=normal[n] b=uniform(-1,1)[n] total=inout constant(0)[1]
__global__ void dot(const float* a, const float* b, float* total, int n) {
  __shared__ float part[128];
  float sum = 0.0f;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += a[i] * b[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 128; ++t) sum += part[t];
  atomicAdd(total, sum);
}
