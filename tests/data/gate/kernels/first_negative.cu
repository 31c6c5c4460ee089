// The place of each row's first negative number, -1 where there is none; stops there.
// cupilot: tune
// cupilot: workload rows grid=(3) block=(32) count=80 width=400 in=integers(-3,500)[count*width] place=[count]
__global__ void first_negative(const short* in, int* place, int count, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  int found = -1;
  for (int i = 0; i < width; ++i) {
    if (in[row * width + i] < 0) {
      found = i;
      break;
    }
  }
  place[row] = found;
}
