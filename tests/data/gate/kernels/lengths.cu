// Lengths of vectors of two components.
// cupilot: tune
// cupilot: workload all grid=(16) block=(128) n=2000 v=normal[n] length=[n]
__global__ void lengths(const float2* v, float* length, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) length[i] = hypotf(v[i].x, v[i].y);
}
