// Products of single precision, added up in double.
// cupilot: tune
// cupilot: workload rows grid=(4) block=(32) count=100 width=640 a=normal[count*width] b=normal[count*width] sums=[count]
__global__ void double_dot(const float* a, const float* b, double* sums, int count, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  double sum = 0.0;
  for (int i = 0; i < width; ++i) sum += (double)a[row * width + i] * b[row * width + i];
  sums[row] = sum;
}
