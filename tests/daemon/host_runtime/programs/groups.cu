// Cooperative groups: blocks and tiles of a warp.
#include <cooperative_groups.h>

#include "checks.h"

namespace cg = cooperative_groups;
using checks::Buffer;
using checks::Make;

__global__ void Ranks(int* ranks, int* sizes) {
  const cg::thread_block block = cg::this_thread_block();
  const int at = blockIdx.x * 24 + block.thread_rank();
  ranks[at] = static_cast<int>(cg::this_grid().thread_rank());
  sizes[at] = static_cast<int>(block.size()) * 1000 + block.thread_index().y * 10 +
              static_cast<int>(block.group_index().x);
}
CASE(ranks_of_blocks_and_grids) {
  Buffer<int> ranks(48), sizes(48);
  Ranks<<<2, dim3(6, 4)>>>(ranks, sizes);
  SAME_ALL(ranks.Read(), Make<int>(48, [](int i) { return i; }));
  SAME_ALL(sizes.Read(), Make<int>(48, [](int i) { return 24000 + i % 24 / 6 * 10 + i / 24; }));
}

__device__ int Neighbour(cg::thread_block block, int* shared) {
  shared[block.thread_rank()] = block.thread_rank() * 7;
  block.sync();
  return shared[(block.thread_rank() + 1) % block.num_threads()];
}
__global__ void Exchange(int* out) {
  __shared__ int shared[128];
  out[threadIdx.x] = Neighbour(cg::this_thread_block(), shared);
}
CASE(a_block_that_waits_in_a_function) {
  Buffer<int> out(128);
  Exchange<<<1, 128>>>(out);
  SAME_ALL(out.Read(), Make<int>(128, [](int i) { return (i + 1) % 128 * 7; }));
}

template <unsigned int Size>
__device__ int SumOf(cg::thread_block_tile<Size> tile, int value) {
  for (unsigned int offset = Size / 2; offset > 0; offset /= 2) {
    value += tile.shfl_down(value, offset);
  }
  return tile.shfl(value, 0);
}
template <unsigned int Size>
__global__ void Sums(int* out) {
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  out[threadIdx.x] = SumOf<Size>(tile, threadIdx.x) * 100 + tile.meta_group_rank();
}
template <unsigned int Size>
void CheckSums() {
  Buffer<int> out(96);
  Sums<Size><<<1, 96>>>(out);
  const int size = static_cast<int>(Size);
  SAME_ALL(out.Read(), Make<int>(96, [=](int i) {
             const int first = i / size * size;
             return (size * first + size * (size - 1) / 2) * 100 + i / size;
           }));
}
CASE(sums_in_tiles_of_every_size) {
  CheckSums<32>();
  CheckSums<16>();
  CheckSums<8>();
  CheckSums<4>();
  CheckSums<2>();
  CheckSums<1>();
}

__global__ void TilesOfTiles(unsigned int* out, int* swapped) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto quarter = cg::tiled_partition<8>(warp);
  const unsigned int rank = quarter.thread_rank();
  swapped[threadIdx.x] = quarter.shfl_xor(static_cast<int>(threadIdx.x), 3) +
                         quarter.shfl_up(static_cast<int>(rank), 1) * 1000;
  cg::sync(quarter);
  const int odd = rank % 2;
  out[threadIdx.x] = quarter.ballot(odd) + 1000 * quarter.any(rank == 9) +
                     10000 * quarter.all(rank < 8) + 100000 * quarter.meta_group_rank();
}
CASE(tiles_of_tiles) {
  Buffer<unsigned int> out(64);
  Buffer<int> swapped(64);
  TilesOfTiles<<<1, 64>>>(out, swapped);
  SAME_ALL(out.Read(),
           Make<unsigned int>(64, [](int i) { return 0xaa + 10000 + 100000 * (i % 32 / 8); }));
  SAME_ALL(swapped.Read(), Make<int>(64, [](int i) {
             const int rank = i % 8;
             return (i ^ 3) + (rank == 0 ? 0 : rank - 1) * 1000;
           }));
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
