// How far bytes of a row are spread: the row's length squared times their variance.
// cupilot: tune
// cupilot: workload rows grid=(1) block=(32) rows=30 width=600 in=integers(0,255)[rows*width] out=[rows]
__global__ void spread(const unsigned char* in, unsigned long long* out, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  unsigned long long sum = 0, squares = 0;
  for (int i = 0; i < width; ++i) {
    const unsigned long long x = in[row * width + i];
    sum += x;
    squares += x * x;
  }
  out[row] = (unsigned long long)width * squares - sum * sum;
}
