// corpus: swapped
// A kernel with tunables of its own, and the launch that goes with them.
#include "support.cuh"

#ifndef STEP_BLOCK
#define STEP_BLOCK 64
#endif
#ifndef STEP_EACH
#define STEP_EACH 2
#endif

// cupilot: tune
// cupilot: workload grid=2 block=STEP_BLOCK n=256 data=integers(0,9)[n]
// cupilot: tunable STEP_BLOCK = 32, 64, 128
// cupilot: tunable STEP_EACH = 1, 2, 4
// cupilot: require STEP_BLOCK * STEP_EACH <= 512
// cupilot: launch block=STEP_BLOCK grid=ceil_div(n,STEP_BLOCK*STEP_EACH)
// cupilot: tolerance bitwise
__global__ void __launch_bounds__(STEP_BLOCK) step(int* data, int n) {
  for (int k = 0; k < STEP_EACH; ++k) {
    int i = (blockIdx.x * STEP_EACH + k) * STEP_BLOCK + threadIdx.x;
    if (i < n) data[i] += k + 1;
  }
}

int main() {
  support::Array<int> data(256, 1, 1);
  step<<<2, STEP_BLOCK>>>(data.get(), 256);
  support::Show("data", data);
}
