// Rows become columns.
// cupilot: tune
// cupilot: workload plane grid=(6,4) block=(16,16) columns=90 lines=61 in=normal[columns*lines] out=[columns*lines]
__global__ void transpose(const float* in, float* out, int columns, int lines) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, l = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < columns && l < lines) out[c * lines + l] = in[l * columns + c];
}
