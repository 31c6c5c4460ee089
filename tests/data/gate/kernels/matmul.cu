// One element a thread, no tiles.
// cupilot: tune
// cupilot: workload square grid=(3,3) block=(16,16) m=48 n=40 k=72 a=normal[m*k] b=normal[k*n] c=[m*n]
// cupilot: workload odd grid=(2,2) block=(16,16) m=17 n=23 k=37 a=normal[m*k] b=normal[k*n] c=[m*n]
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}
