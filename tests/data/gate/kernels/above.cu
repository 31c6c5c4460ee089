// Bits of what is above a tenth, 32 in a word.
// cupilot: tune
// cupilot: workload all grid=(1) block=(96) words=90 in=normal[32*words] out=[words]
__global__ void above(const float* in, unsigned* out, int words) {
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= words) return;
  unsigned bits = 0;
  for (int b = 0; b < 32; ++b) bits |= in[32 * w + b] > 0.1f ? 1u << b : 0u;
  out[w] = bits;
}
