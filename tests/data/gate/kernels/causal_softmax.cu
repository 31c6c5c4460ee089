// Softmax of attention scores under a causal mask, one block a query.
// cupilot: tune
// cupilot: workload heads grid=(192) block=(64) n=96 scale=0.125 scores=normal(0,8)[2*n*n] out=[2*n*n]
__global__ void causal_softmax(const float* scores, float* out, int n, float scale) {
  __shared__ float cell[64];
  const float* in = scores + blockIdx.x * n;
  float* to = out + blockIdx.x * n;
  const int last = blockIdx.x % n;
  const int me = threadIdx.x;
  float top = in[0] * scale;
  for (int i = me; i <= last; i += blockDim.x) top = fmaxf(top, in[i] * scale);
  cell[me] = top;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (me < step) cell[me] = fmaxf(cell[me], cell[me + step]);
    __syncthreads();
  }
  top = cell[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = me; i <= last; i += blockDim.x) sum += expf(in[i] * scale - top);
  cell[me] = sum;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (me < step) cell[me] += cell[me + step];
    __syncthreads();
  }
  sum = cell[0];
  for (int i = me; i < n; i += blockDim.x) to[i] = i <= last ? expf(in[i] * scale - top) / sum : 0.0f;
}
