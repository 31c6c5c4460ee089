// corpus: declined "'printf': it prints" in grammar.y
#include "support.cuh"

#line 100 "grammar.y"
// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void tells(int* data, int n) {
  if (data[0] < 0) printf("%d\n", n);
}

int main() {
  support::Array<int> data(256, 1, 1);
  tells<<<4, 64>>>(data.get(), 256);
  support::Show("data", data);
}
