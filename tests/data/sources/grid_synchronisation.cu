// corpus: declined "'this_grid': it synchronises the whole grid"
// corpus: nvcc-only (the host device runs no cooperative launches)
// corpus: standards 17 20
#include <cooperative_groups.h>

#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void ripple(int* data, int n) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int i = int(grid.thread_rank());
  for (int round = 0; round < 4; ++round) {
    const int left = i > 0 && i < n ? data[i - 1] : 0;
    grid.sync();
    if (i < n) data[i] += left;
    grid.sync();
  }
}

int main() {
  support::Array<int> data(256, 1, 1);
  int* values = data.get();
  int n = 256;
  void* arguments[] = {&values, &n};
  support::Check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&ripple), dim3(4), dim3(64),
                                             arguments, 0, 0));
  support::Show("data", data);
}
