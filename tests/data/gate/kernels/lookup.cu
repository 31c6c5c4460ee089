// Values of a table, by place.
// cupilot: tune
// cupilot: workload all grid=(24) block=(128) n=3000 table=normal[1000] where=indices(0,1000)[n] out=[n]
__global__ void lookup(const float* table, const int* where, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[where[i]];
}
