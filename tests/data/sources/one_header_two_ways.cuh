#include "support.cuh"

namespace NAME {

#if WIDTH == 2
struct Step {
  int by;
};
#else
typedef int Step;
#endif

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void widen(int* data, int n) {
  for (int k = 0; k < WIDTH; ++k) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH + k;
    Step step = {WIDTH * 10};
#if WIDTH == 2
    if (i < n) data[i] += step.by;
#else
    if (i < n) data[i] -= step;
#endif
  }
}

}  // namespace NAME

static void run(int* data, int n) { NAME::widen<<<(n + 64 * WIDTH - 1) / (64 * WIDTH), 64>>>(data, n); }
