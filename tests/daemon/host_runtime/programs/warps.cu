// Operations of a warp, against what the programming guide says of them.
#include "checks.h"

using checks::Buffer;
using checks::Make;

constexpr unsigned int kAll = 0xffffffffu;
constexpr int kThreads = 96;  // three warps

enum class Shuffle { kIndex, kUp, kDown, kXor };

template <Shuffle S, class T>
__global__ void ShuffleAll(T* data, int operand, int width) {
  const T value = data[threadIdx.x];
  T result;
  if (S == Shuffle::kIndex) result = __shfl_sync(kAll, value, operand, width);
  if (S == Shuffle::kUp) result = __shfl_up_sync(kAll, value, operand, width);
  if (S == Shuffle::kDown) result = __shfl_down_sync(kAll, value, operand, width);
  if (S == Shuffle::kXor) result = __shfl_xor_sync(kAll, value, operand, width);
  data[threadIdx.x] = result;
}
int SourceLane(Shuffle kind, int lane, int operand, int width) {
  const int first = lane / width * width;
  int from = lane;
  if (kind == Shuffle::kIndex) from = first + operand % width;
  if (kind == Shuffle::kUp) from = lane - operand;
  if (kind == Shuffle::kDown) from = lane + operand;
  if (kind == Shuffle::kXor) from = lane ^ operand;
  if (kind == Shuffle::kXor) return from < first + width ? from : lane;
  return from >= first && from < first + width ? from : lane;
}
template <Shuffle S, class T>
void CheckShuffle() {
  for (const int width : {32, 16, 8, 4, 2}) {
    for (const int operand : {0, 1, 2, 5, 8, 16, 31}) {
      Buffer<T> data(Make<T>(kThreads, [](int i) { return i * 3 + 1; }));
      ShuffleAll<S, T><<<1, kThreads>>>(static_cast<T*>(data), operand, width);
      SAME_ALL(data.Read(), Make<T>(kThreads, [=](int i) {
                 return (i / 32 * 32 + SourceLane(S, i % 32, operand, width)) * 3 + 1;
               }));
    }
  }
}
CASE(shuffles_of_int) {
  CheckShuffle<Shuffle::kIndex, int>();
  CheckShuffle<Shuffle::kUp, int>();
  CheckShuffle<Shuffle::kDown, int>();
  CheckShuffle<Shuffle::kXor, int>();
}
CASE(shuffles_of_other_types) {
  CheckShuffle<Shuffle::kIndex, float>();
  CheckShuffle<Shuffle::kUp, double>();
  CheckShuffle<Shuffle::kDown, unsigned int>();
  CheckShuffle<Shuffle::kXor, long long>();
  CheckShuffle<Shuffle::kDown, unsigned long long>();
}

__global__ void HalfWarp(int* data) {
  const int lane = threadIdx.x;
  if (lane < 16) {
    data[lane] = __shfl_down_sync(0x0000ffffu, data[lane], 3);
  } else {
    data[lane] = __shfl_up_sync(0xffff0000u, data[lane], 2);
  }
}
CASE(halves_of_a_warp_take_branches_of_their_own) {
  Buffer<int> data(Make<int>(32, [](int i) { return 100 + i; }));
  HalfWarp<<<1, 32>>>(data);
  const std::vector<int> result = data.Read();
  for (int i = 0; i < 13; ++i) SAME(result[i], 100 + i + 3);
  for (int i = 18; i < 32; ++i) SAME(result[i], 100 + i - 2);
}

__global__ void LoopsOfDifferentLength(int* out) {
  // Each half goes round its own number of times.
  const unsigned int mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  int value = threadIdx.x;
  for (int round = 0; round < (threadIdx.x < 16 ? 3 : 5); ++round) {
    value += __shfl_xor_sync(mask, value, 1);
  }
  out[threadIdx.x] = value;
}
CASE(halves_of_a_warp_loop_on_their_own) {
  Buffer<int> out(32);
  LoopsOfDifferentLength<<<1, 32>>>(out);
  // After one round both of a pair hold their sum, which every further round doubles.
  SAME_ALL(out.Read(), Make<int>(32, [](int i) { return (i / 2 * 4 + 1) << (i < 16 ? 2 : 4); }));
}

__global__ void EarlyEnd(int* out, int n) {
  if (threadIdx.x >= n) return;
  int value = 1;
  for (int delta = 1; delta < 32; delta *= 2) {
    const int other = __shfl_up_sync(__activemask(), value, delta);
    if (threadIdx.x >= delta) value += other;
  }
  out[threadIdx.x] = value;
}
CASE(lanes_that_have_ended_are_not_waited_for) {
  Buffer<int> out(32, -1);
  EarlyEnd<<<1, 32>>>(out, 20);
  SAME_ALL(out.Read(), Make<int>(32, [](int i) { return i < 20 ? i + 1 : -1; }));
}

__global__ void PartialLastWarp(unsigned int* out) { out[threadIdx.x] = __ballot_sync(kAll, threadIdx.x % 2); }
CASE(a_last_warp_that_is_not_full) {
  Buffer<unsigned int> out(40);
  PartialLastWarp<<<1, 40>>>(out);
  SAME_ALL(out.Read(), Make<unsigned int>(40, [](int i) { return i < 32 ? 0xaaaaaaaau : 0xaau; }));
}

__global__ void Vote(const int* in, unsigned int* out) {
  const int value = in[threadIdx.x];
  unsigned int* mine = out + 4 * threadIdx.x;
  mine[0] = __ballot_sync(kAll, value > 10);
  mine[1] = __any_sync(kAll, value == 31) != 0;
  mine[2] = __all_sync(kAll, value >= 0) != 0;
  mine[3] = __all_sync(kAll, value > 0) != 0;
}
CASE(votes) {
  Buffer<int> in(Make<int>(kThreads, [](int i) { return i; }));
  Buffer<unsigned int> out(4 * kThreads);
  Vote<<<1, kThreads>>>(in, out);
  const std::vector<unsigned int> result = out.Read();
  for (int i = 0; i < kThreads; ++i) {
    SAME(result[4 * i], i < 32 ? 0xfffff800u : kAll);
    SAME(result[4 * i + 1], i < 32 ? 1u : 0u);
    SAME(result[4 * i + 2], 1u);
    SAME(result[4 * i + 3], i < 32 ? 0u : 1u);
  }
}

// The lanes that take a branch together find each other.
__global__ void CountAndPlace(const int* in, int* out, int* count) {
  const int value = in[threadIdx.x];
  if (value % 3 == 0) {
    const unsigned int active = __activemask();
    const int leader = __ffs(active) - 1, lane = threadIdx.x % 32;
    int first = 0;
    if (lane == leader) first = atomicAdd(count, __popc(active));
    first = __shfl_sync(active, first, leader);
    out[first + __popc(active & ((1u << lane) - 1))] = value;
  }
}
CASE(active_lanes_of_a_branch) {
  Buffer<int> in(Make<int>(64, [](int i) { return i; })), out(64, -1), count(1);
  CountAndPlace<<<1, 64>>>(in, out, count);
  SAME(count.Read()[0], 22);
  const std::vector<int> placed = out.Read();
  // Warps in either order, lanes in theirs.
  const bool swapped = placed[0] != 0;
  for (int i = 0; i < 22; ++i) SAME(placed[swapped ? (i + 11) % 22 : i], 3 * i);
}

__global__ void OnlyActive(unsigned int* out) { out[threadIdx.x] = __activemask(); }
CASE(active_lanes_of_whole_warps) {
  Buffer<unsigned int> out(40);
  OnlyActive<<<1, 40>>>(out);
  SAME_ALL(out.Read(), Make<unsigned int>(40, [](int i) { return i < 32 ? 0xffffffffu : 0xffu; }));
}

template <class T>
__global__ void Match(const T* in, unsigned int* out) {
  int all = -1;
  out[3 * threadIdx.x] = __match_any_sync(kAll, in[threadIdx.x]);
  out[3 * threadIdx.x + 1] = __match_all_sync(kAll, in[threadIdx.x], &all);
  out[3 * threadIdx.x + 2] = all != 0;
}
template <class T>
void CheckMatch() {
  // The second warp's values are all alike.
  const std::vector<T> values = Make<T>(64, [](int i) { return i < 32 ? i % 3 : 7; });
  Buffer<T> in(values);
  Buffer<unsigned int> out(3 * 64);
  Match<T><<<1, 64>>>(in, out);
  const std::vector<unsigned int> result = out.Read();
  for (int i = 0; i < 64; ++i) {
    unsigned int same = 0;
    for (int lane = 0; lane < 32; ++lane) {
      if (values[i / 32 * 32 + lane] == values[i]) same |= 1u << lane;
    }
    SAME(result[3 * i], same);
    SAME(result[3 * i + 1], i < 32 ? 0u : kAll);
    SAME(result[3 * i + 2], i < 32 ? 0u : 1u);
  }
}
CASE(matches) {
  CheckMatch<int>();
  CheckMatch<unsigned int>();
  CheckMatch<long long>();
  CheckMatch<float>();
  CheckMatch<double>();
}

__global__ void Reduce(const int* in, unsigned int* out) {
  const int value = in[threadIdx.x];
  const unsigned int bits = static_cast<unsigned int>(value);
  unsigned int* mine = out + 8 * threadIdx.x;
  mine[0] = __reduce_add_sync(kAll, value);
  mine[1] = __reduce_min_sync(kAll, value);
  mine[2] = __reduce_max_sync(kAll, value);
  mine[3] = __reduce_min_sync(kAll, bits);
  mine[4] = __reduce_max_sync(kAll, bits);
  mine[5] = __reduce_and_sync(kAll, bits);
  mine[6] = __reduce_or_sync(kAll, bits);
  mine[7] = __reduce_xor_sync(kAll, bits);
}
CASE(reductions) {
  const std::vector<int> values = Make<int>(64, [](int i) { return i * 7 - 100; });
  Buffer<int> in(values);
  Buffer<unsigned int> out(8 * 64);
  Reduce<<<1, 64>>>(in, out);
  std::vector<unsigned int> expected;
  for (int i = 0; i < 64; ++i) {
    const int* first = &values[i / 32 * 32];
    unsigned int sum = 0, low = ~0u, high = 0, all = ~0u, any = 0, odd = 0;
    int least = first[0], most = first[0];
    for (int lane = 0; lane < 32; ++lane) {
      const unsigned int bits = static_cast<unsigned int>(first[lane]);
      sum += bits;
      least = first[lane] < least ? first[lane] : least;
      most = first[lane] > most ? first[lane] : most;
      low = bits < low ? bits : low;
      high = bits > high ? bits : high;
      all &= bits;
      any |= bits;
      odd ^= bits;
    }
    for (const unsigned int v : {sum, static_cast<unsigned int>(least), static_cast<unsigned int>(most), low,
                                 high, all, any, odd}) {
      expected.push_back(v);
    }
  }
  SAME_ALL(out.Read(), expected);
}

__global__ void WarpSynchronous(int* out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  __syncwarp();
  const int neighbour = box[threadIdx.x ^ 1];
  __syncwarp(kAll);
  box[threadIdx.x] = neighbour * 2;
  __syncwarp();
  out[threadIdx.x] = box[threadIdx.x ^ 2];
}
CASE(barriers_of_a_warp) {
  Buffer<int> out(64);
  WarpSynchronous<<<1, 64>>>(out);
  SAME_ALL(out.Read(), Make<int>(64, [](int i) { return 2 * (i ^ 3); }));
}

// Warps reach the block's barrier after different numbers of operations of their own.
__global__ void WarpsAtDifferentPace(int* out) {
  __shared__ int sums[4];
  int value = threadIdx.x;
  for (int round = 0; round <= threadIdx.x / 32; ++round) value += __shfl_xor_sync(kAll, value, 16);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  out[threadIdx.x] = sums[3 - threadIdx.x / 32];
}
CASE(warps_at_different_pace) {
  Buffer<int> out(128);
  WarpsAtDifferentPace<<<1, 128>>>(out);
  SAME_ALL(out.Read(), Make<int>(128, [](int i) {
             const int warp = 3 - i / 32;
             return (2 * 32 * warp + 16) << warp;
           }));
}

__global__ void TwoDimensionalWarps(unsigned int* out) {
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  out[at] = __ballot_sync(kAll, threadIdx.x == 0);
}
CASE(warps_run_along_x_then_y) {
  Buffer<unsigned int> out(64);
  TwoDimensionalWarps<<<1, dim3(8, 8)>>>(out);
  SAME_ALL(out.Read(), std::vector<unsigned int>(64, 0x01010101u));
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
