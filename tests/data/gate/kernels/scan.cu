// Running sums of each block's stretch, in integers.
// cupilot: tune
// cupilot: workload stretches grid=(9) block=(128) n=1100 in=integers(-4000000,4000000)[n] out=[n]
__global__ void scan(const int* in, int* out, int n) {
  __shared__ int part[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int reach = 1; reach < 128; reach *= 2) {
    const int left = t >= reach ? part[t - reach] : 0;
    __syncthreads();
    part[t] += left;
    __syncthreads();
  }
  if (i < n) out[i] = part[t];
}
