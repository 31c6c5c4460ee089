// The longest run of equal numbers in each row.
// cupilot: tune
// cupilot: workload rows grid=(1) block=(32) rows=25 width=160 in=integers(0,9)[rows*width] longest=[rows]
__global__ void runs(const int* in, int* longest, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int best = 0, run = 0;
  for (int i = 0; i < width; ++i) {
    run = i > 0 && in[row * width + i] == in[row * width + i - 1] ? run + 1 : 1;
    best = max(best, run);
  }
  longest[row] = best;
}
