// A number divided by each divisor; by zero it is zero.
// cupilot: tune
// cupilot: workload all grid=(24) block=(128) n=3000 number=2000000000 divisor=integers(-300000000,300000000)[n] out=[n]
__global__ void quotients(const int* divisor, int* out, int number, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = divisor[i] == 0 ? 0 : number / divisor[i];
}
