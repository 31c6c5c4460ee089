// Cooperative groups: blocks and tiles of a warp.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>

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

// The lanes that take a branch together, in the forms that a group has.
struct Coalesced {
  unsigned int rank, size, ballot, matches;
  int from_next, up, sum, least, before;
};
__global__ void TakeBranch(const int* in, Coalesced* out) {
  const int value = in[threadIdx.x];
  if (value % 3 != 1) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  Coalesced& mine = out[threadIdx.x];
  mine.rank = group.thread_rank();
  mine.size = group.size();
  mine.ballot = group.ballot(value % 2 == 0);
  mine.matches = group.match_any(value % 2);
  mine.from_next = group.shfl(value, (group.thread_rank() + 1) % group.num_threads());
  mine.up = group.shfl_up(value, 2);
  group.sync();
  mine.sum = cg::reduce(group, value, cg::plus<int>());
  mine.least = cg::reduce(group, -value, cg::less<int>());
  mine.before = cg::exclusive_scan(group, value);
}
CASE(lanes_that_take_a_branch_together) {
  const std::vector<int> values = Make<int>(64, [](int i) { return i * 7 % 40; });
  Buffer<int> in(values);
  Buffer<Coalesced> out(64);
  TakeBranch<<<1, 64>>>(in, out);
  const std::vector<Coalesced> result = out.Read();
  for (int warp = 0; warp < 2; ++warp) {
    std::vector<int> there;
    for (int i = warp * 32; i < warp * 32 + 32; ++i) {
      if (values[i] % 3 == 1) there.push_back(i);
    }
    int sum = 0, most = 0;
    unsigned int even = 0;
    for (std::size_t k = 0; k < there.size(); ++k) {
      sum += values[there[k]];
      most = std::max(most, values[there[k]]);
      if (values[there[k]] % 2 == 0) even |= 1u << k;
    }
    int before = 0;
    for (std::size_t k = 0; k < there.size(); ++k) {
      const Coalesced& r = result[there[k]];
      const int value = values[there[k]];
      SAME(r.rank, static_cast<unsigned int>(k));
      SAME(r.size, static_cast<unsigned int>(there.size()));
      SAME(r.ballot, even);
      SAME(r.matches, value % 2 == 0 ? even : ((1u << there.size()) - 1) & ~even);
      SAME(r.from_next, values[there[(k + 1) % there.size()]]);
      SAME(r.up, values[there[k < 2 ? k : k - 2]]);
      SAME(r.sum, sum);
      SAME(r.least, -most);
      SAME(r.before, before);
      before += value;
    }
  }
}

// Both branches at the same distance from their ends: each finds its own lanes only.
__global__ void BothBranches(unsigned int* out) {
  if (threadIdx.x % 4 == 0) {
    out[threadIdx.x] = cg::coalesced_threads().size();
  } else {
    out[threadIdx.x] = 100 + cg::coalesced_threads().size();
  }
}
CASE(each_branch_has_a_group_of_its_own) {
  Buffer<unsigned int> out(32);
  BothBranches<<<1, 32>>>(out);
  SAME_ALL(out.Read(), Make<unsigned int>(32, [](int i) { return i % 4 == 0 ? 8 : 124; }));
}

template <unsigned int Size>
__global__ void ReduceAndScan(const int* in, int* out) {
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const int value = in[threadIdx.x];
  int* mine = out + 6 * threadIdx.x;
  mine[0] = cg::reduce(tile, value, cg::plus<int>());
  mine[1] = cg::reduce(tile, value, cg::greater<int>());
  mine[2] = cg::reduce(tile, value, cg::bit_xor<int>());
  mine[3] = cg::inclusive_scan(tile, value);
  mine[4] = cg::exclusive_scan(tile, value, cg::plus<int>());
  mine[5] = cg::inclusive_scan(tile, value, cg::less<int>());
}
template <unsigned int Size>
void CheckReduceAndScan() {
  const std::vector<int> values = Make<int>(96, [](int i) { return i * 37 % 101 - 50; });
  Buffer<int> in(values), out(6 * 96);
  ReduceAndScan<Size><<<1, 96>>>(in, out);
  const std::vector<int> result = out.Read();
  for (int i = 0; i < 96; ++i) {
    const int first = i / static_cast<int>(Size) * static_cast<int>(Size);
    int sum = 0, most = values[first], odd = 0, least = values[first], upto = 0;
    for (int k = first; k < first + static_cast<int>(Size); ++k) {
      sum += values[k];
      most = std::max(most, values[k]);
      odd ^= values[k];
      if (k <= i) upto += values[k], least = std::min(least, values[k]);
    }
    const int* r = &result[6 * i];
    for (const auto& [actual, expected] : {std::pair<int, int>{r[0], sum}, {r[1], most}, {r[2], odd},
                                           {r[3], upto}, {r[4], upto - values[i]}, {r[5], least}}) {
      SAME(actual, expected);
    }
  }
}
CASE(reductions_and_scans_of_tiles) {
  CheckReduceAndScan<32>();
  CheckReduceAndScan<16>();
  CheckReduceAndScan<4>();
}

__device__ int SumOfAny(cg::thread_group group, int* box, int value) {
  box[threadIdx.x] = value;
  group.sync();
  int sum = 0;
  const unsigned int first = threadIdx.x - group.thread_rank();
  for (unsigned int i = 0; i < group.size(); ++i) sum += box[first + i];
  group.sync();
  return sum;
}
__global__ void AnyGroup(int* out) {
  __shared__ int box[64];
  const cg::thread_block block = cg::this_thread_block();
  out[3 * threadIdx.x] = SumOfAny(block, box, 1);
  out[3 * threadIdx.x + 1] = SumOfAny(cg::tiled_partition(block, 8), box, 1);
  out[3 * threadIdx.x + 2] = SumOfAny(cg::tiled_partition<16>(block), box, 1);
}
CASE(functions_of_any_group) {
  Buffer<int> out(3 * 64);
  AnyGroup<<<1, 64>>>(out);
  SAME_ALL(out.Read(), Make<int>(3 * 64, [](int i) { return i % 3 == 0 ? 64 : i % 3 == 1 ? 8 : 16; }));
}

__global__ void Partitions(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto third = cg::labeled_partition(warp, static_cast<int>(threadIdx.x) % 3);
  const auto odd = cg::binary_partition(third, threadIdx.x % 2 == 1);
  out[4 * threadIdx.x] = third.size();
  out[4 * threadIdx.x + 1] = third.meta_group_rank() * 10 + third.meta_group_size();
  out[4 * threadIdx.x + 2] = odd.size();
  out[4 * threadIdx.x + 3] = cg::tiled_partition<4>(third).size();
}
CASE(partitions_by_a_label) {
  Buffer<int> out(4 * 32);
  Partitions<<<1, 32>>>(out);
  SAME_ALL(out.Read(), Make<int>(4 * 32, [](int i) {
             const int lane = i / 4, third = lane % 3 == 2 ? 10 : 11, rank = lane / 3;
             if (i % 4 == 0) return third;
             if (i % 4 == 1) return lane % 3 * 10 + 3;
             if (i % 4 == 3) return rank / 4 * 4 + 4 <= third ? 4 : third % 4;
             int same = 0;
             for (int k = 0; k < 32; ++k) same += k % 3 == lane % 3 && k % 2 == lane % 2;
             return same;
           }));
}

__global__ void CopyTogether(const int* in, int* out) {
  __shared__ int box[100];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, box, in, sizeof box);
  cg::wait(block);
  for (int i = threadIdx.x; i < 100; i += blockDim.x) out[i] = box[99 - i];
}
CASE(copies_of_a_group) {
  Buffer<int> in(Make<int>(100, [](int i) { return i * i; })), out(100);
  CopyTogether<<<1, 32>>>(in, out);
  SAME_ALL(out.Read(), Make<int>(100, [](int i) { return (99 - i) * (99 - i); }));
}

// Each block reads what another has written, again and again.
__global__ void Relay(int* values, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned int blocks = gridDim.x;
  for (int round = 0; round < rounds; ++round) {
    const int from = values[(blockIdx.x + 1) % blocks * blockDim.x + threadIdx.x];
    grid.sync();
    values[blockIdx.x * blockDim.x + threadIdx.x] = from + 1;
    grid.sync();
  }
  if (!grid.is_valid()) values[0] = -1;
}
CASE(a_grid_that_waits) {
  constexpr int kBlocks = 5, kThreads = 33, kRounds = 7;
  Buffer<int> values(Make<int>(kBlocks * kThreads, [](int i) { return i * 100; }));
  int* pointer = values;
  int rounds = kRounds;
  void* arguments[] = {&pointer, &rounds};
  WORKS(cudaLaunchCooperativeKernel(Relay, dim3(kBlocks), dim3(kThreads), arguments));
  WORKS(cudaDeviceSynchronize());
  SAME_ALL(values.Read(), Make<int>(kBlocks * kThreads, [](int i) {
             return (i / kThreads + kRounds) % kBlocks * kThreads * 100 + i % kThreads * 100 + kRounds;
           }));
  FAILS_WITH(cudaErrorCooperativeLaunchTooLarge,
             cudaLaunchCooperativeKernel(Relay, dim3(65536), dim3(1024), arguments));
  cudaGetLastError();
}
CASE(a_launch_with_attributes) {
  constexpr int kBlocks = 3, kThreads = 32;
  Buffer<int> values(kBlocks * kThreads);
  cudaLaunchAttribute cooperative;
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(kThreads);
  config.attrs = &cooperative;
  config.numAttrs = 1;
  WORKS(cudaLaunchKernelEx(&config, Relay, static_cast<int*>(values), 4));
  SAME_ALL(values.Read(), std::vector<int>(kBlocks * kThreads, 4));
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
