// The k largest values of each row in order, equal values by index; NaN is never taken.
// cupilot: tune
// cupilot: workload rows grid=(40) block=(64) width=300 k=5 in=normal[40*width] value=[40*k] index=[40*k]
__global__ void top_k(const float* in, float* value, int* index, int width, int k) {
  __shared__ float best[64];
  __shared__ int at[64];
  const float* row = in + blockIdx.x * width;
  const int me = threadIdx.x;
  float last = 0.0f;
  int last_at = -1;
  for (int round = 0; round < k; ++round) {
    float mine = 0.0f;
    int where = -1;
    for (int i = me; i < width; i += blockDim.x) {
      const float v = row[i];
      const bool open = round == 0 || (last_at >= 0 && (v < last || (v == last && i > last_at)));
      if (open && v == v && (where < 0 || v > mine)) {
        mine = v;
        where = i;
      }
    }
    best[me] = mine;
    at[me] = where;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
      if (me < step) {
        const float v = best[me + step];
        const int w = at[me + step];
        if (w >= 0 && (at[me] < 0 || v > best[me] || (v == best[me] && w < at[me]))) {
          best[me] = v;
          at[me] = w;
        }
      }
      __syncthreads();
    }
    last = best[0];
    last_at = at[0];
    if (me == 0) {
      value[blockIdx.x * k + round] = last;
      index[blockIdx.x * k + round] = last_at;
    }
    __syncthreads();
  }
}
