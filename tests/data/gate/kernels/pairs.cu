// cupilot: tune
// cupilot: workload all grid=(20) block=(128) n=2500 in=integers(-1000,1000)[n] out=out unordered[n] at=out unordered[n] count=inout integers(0,0)[1]
__global__ void pairs(const int* in, int* out, int* at, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || in[i] <= 0) return;
  const int place = atomicAdd(count, 1);
  out[place] = in[i];
  at[place] = i;
}
