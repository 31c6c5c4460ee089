// Numbers between two limits; what is no number stays what it is.
// cupilot: tune
// cupilot: workload all grid=(20) block=(256) n=4999 low=-1 high=2 in=normal[n] out=[n]
__global__ void clamp(const float* in, float* out, float low, float high, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  if (x < low) x = low;
  if (x > high) x = high;
  out[i] = x;
}
