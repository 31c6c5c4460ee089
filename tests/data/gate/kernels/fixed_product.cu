// Products of numbers with fifteen bits behind the point.
// cupilot: tune
// cupilot: workload all grid=(24) block=(128) n=3000 a=bits[n] b=bits[n] out=[n]
__global__ void fixed_product(const short* a, const short* b, short* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int product = ((int)a[i] * (int)b[i]) >> 15;
  out[i] = (short)(product > 32767 ? 32767 : product);
}
