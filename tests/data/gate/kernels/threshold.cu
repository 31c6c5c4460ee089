// Values above a limit, and a mask of where they are.
// cupilot: tune
// cupilot: workload all grid=(20) block=(256) n=5000 limit=2.5 in=normal[n] kept=[n] mask=[n]
__global__ void threshold(const float* in, float* kept, unsigned char* mask, float limit, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const bool above = in[i] > limit;
  kept[i] = above ? in[i] : 0.0f;
  mask[i] = above;
}
