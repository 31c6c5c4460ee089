// What is positive, in no order, and how many they are.
// cupilot: tune
// cupilot: workload all grid=(20) block=(128) n=2500 in=integers(-1000,1000)[n] out=out unordered[n] count=inout integers(0,0)[1]
__global__ void compact(const int* in, int* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) out[atomicAdd(count, 1)] = in[i];
}
