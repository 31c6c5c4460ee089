// Sums of values by sorted keys; groups without a value have none.
// cupilot: tune
// cupilot: workload keys grid=(19) block=(128) n=2400 groups=2400 key=sorted[n] value=normal[n] sums=[groups]
__global__ void grouped_sum(const int* key, const float* value, float* sums, int n, int groups) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= groups) return;
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (key[middle] < g) low = middle + 1; else high = middle;
  }
  float sum = 0.0f;
  for (int i = low; i < n && key[i] == g; ++i) sum += value[i];
  sums[g] = sum;
}
