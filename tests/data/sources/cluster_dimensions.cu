// corpus: swapped
// corpus: gpu-idle 1
// corpus: nvcc-only (the host device has no clusters)
// corpus: standards 17 20
// corpus: architectures 90 100
#include <cooperative_groups.h>

#include "support.cuh"

namespace cg = cooperative_groups;

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 in=integers(0,9)[n] out=[n]
__global__ void __cluster_dims__(2, 1, 1) swap_pairs(const int* in, int* out, int n) {
  __shared__ int values[64];
  cg::cluster_group cluster = cg::this_cluster();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[threadIdx.x] = i < n ? in[i] : 0;
  cluster.sync();
  const int* other = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
  if (i < n) out[i] = other[threadIdx.x];
  cluster.sync();
}

int main() {
  support::Array<int> in(256, 1, 1), out(256);
  swap_pairs<<<4, 64>>>(in.get(), out.get(), 256);
  support::Show("out", out);
}
