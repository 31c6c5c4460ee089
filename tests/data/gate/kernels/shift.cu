// Every value moves one place to the right and is scaled; arrays may be the same one in the program.
// cupilot: tune
// cupilot: workload all grid=(16) block=(128) n=2000 factor=2 in=normal[n] out=[n]
__global__ void shift(const float* in, float* out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i == 0 ? n - 1 : i - 1];
}
