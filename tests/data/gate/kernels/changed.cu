// Which of the numbers have changed.
// cupilot: tune
// cupilot: workload all grid=(16) block=(128) n=2001 before=integers(0,4503599627370496)[n] now=integers(0,4503599627370496)[n] flag=[n]
__global__ void changed(const long long* before, const long long* now, unsigned char* flag, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flag[i] = before[i] != now[i];
}
