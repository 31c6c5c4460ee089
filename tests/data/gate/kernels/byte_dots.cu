// Products of rows of signed bytes.
// cupilot: tune
// cupilot: workload rows grid=(1) block=(32) rows=24 width=1100 a=integers(-128,127)[rows*width] b=integers(-128,127)[rows*width] out=[rows]
__global__ void byte_dots(const signed char* a, const signed char* b, int* out, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int sum = 0;
  for (int i = 0; i < width; ++i) sum += (int)a[row * width + i] * (int)b[row * width + i];
  out[row] = sum;
}
