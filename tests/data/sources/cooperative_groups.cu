// corpus: swapped
// corpus: standards 17 20
#include <cooperative_groups.h>

#include "support.cuh"

namespace cg = cooperative_groups;

template <class Group>
__device__ int SumOf(const Group& group, int value) {
  for (int lanes = group.size() / 2; lanes > 0; lanes /= 2) value += group.shfl_down(value, lanes);
  return value;
}

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] out=[32]
__global__ void sums_of_eight(const int* in, int* out, int n) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int i = blockIdx.x * block.size() + block.thread_rank();
  const int sum = SumOf(tile, i < n ? in[i] : 0);
  if (tile.thread_rank() == 0) out[i / 8] = sum;
  block.sync();
  cg::sync(block);
}

int main() {
  support::Array<int> in(256, 1, 1), out(32);
  sums_of_eight<<<4, 64>>>(in.get(), out.get(), 256);
  support::Show("out", out);
}
