// corpus: declined "'printf': it prints"
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=1 block=32 n=32 out=[n]
__global__ void announce(int* out, int n) {
  int i = threadIdx.x;
  if (i == 0) printf("here are %d values\n", n);
  if (i < n) out[i] = i;
}

int main() {
  support::Array<int> out(32);
  announce<<<1, 32>>>(out.get(), 32);
  support::Show("out", out);
}
