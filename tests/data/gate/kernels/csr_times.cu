// A sparse matrix in rows times a vector.
// cupilot: tune
// cupilot: workload rows grid=(7) block=(32) count=200 first=offsets(1800)[count+1] column=indices(0,150)[1800] value=normal[1800] x=normal[150] y=[count]
__global__ void csr_times(const int* first, const int* column, const float* value, const float* x, float* y, int count) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  float sum = 0.0f;
  for (int i = first[row]; i < first[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}
