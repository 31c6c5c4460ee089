// Bytes counted by atomic additions to what is there.
// cupilot: tune
// cupilot: workload bytes grid=(16) block=(128) n=20000 in=integers(0,255)[n] bins=inout integers(0,40)[256]
__global__ void histogram(const unsigned char* in, int* bins, int n) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) atomicAdd(bins + in[i], 1);
}
