// Numbers in steps, rounded to the nearest (of two the even one), in a byte.
// cupilot: tune
// cupilot: workload all grid=(16) block=(128) n=2000 step=0.03125 in=normal[n] out=[n]
__global__ void to_bytes(const float* in, signed char* out, float step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float steps = rintf(in[i] / step);
  out[i] = (signed char)(int)fminf(fmaxf(steps, -127.0f), 127.0f);
}
