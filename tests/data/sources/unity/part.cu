namespace {
__device__ int UNITY_NAME(step)(int value) { return value * 3 + int(sizeof(__FILE__) > 4); }
}  // namespace

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void UNITY_NAME(kernel)(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = UNITY_NAME(step)(data[i]) & 255;
}

void UNITY_NAME(run)(int* data, int n) { UNITY_NAME(kernel)<<<4, 64>>>(data, n); }
