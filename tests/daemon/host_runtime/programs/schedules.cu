// Kernels with and without races, one a case: prints what they leave, which tells schedules apart where it may
// depend on them. And in which order blocks and threads come.
#include <cupilot_host_schedule.h>

#include "checks.h"

using checks::Buffer;
using checks::Make;

constexpr int kThreads = 128, kBlocks = 5, kAll = kThreads * kBlocks;
const auto kValues = [](int i) { return (i * 7919) % 1009 + 1; };

// All of it as one number.
template <class T>
void Show(const Buffer<T>& buffer) {
  unsigned long sum = 14695981039346656037ul;
  for (const T value : buffer.Read()) sum = (sum ^ static_cast<unsigned long>(value)) * 1099511628211ul;
  std::cout << sum << " " << cudaGetErrorName(cudaGetLastError()) << "\n";
}

// ---- races

template <bool Waits>
__global__ void Reverse(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  tile[threadIdx.x] = in[i];
  if (Waits) __syncthreads();
  out[i] = tile[kThreads - 1 - threadIdx.x];
}
template <bool Waits>
void RunReverse() {
  Buffer<int> in(Make<int>(kAll, kValues)), out(kAll);
  Reverse<Waits><<<kBlocks, kThreads>>>(in, out);
  Show(out);
}
CASE(racy_reverse) { RunReverse<false>(); }
CASE(good_reverse) { RunReverse<true>(); }

// The last barrier of a reduction is missing: the first thread reads what the second has yet to add.
template <bool Waits>
__global__ void Reduce(const int* in, int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  __syncthreads();
  for (int half = kThreads / 2; half > 1; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    if (Waits || half > 2) __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0] + tile[1];
}
template <bool Waits>
void RunReduce() {
  Buffer<int> in(Make<int>(kAll, kValues)), out(kBlocks);
  Reduce<Waits><<<kBlocks, kThreads>>>(in, out);
  Show(out);
}
CASE(racy_tail) { RunReduce<false>(); }
CASE(good_tail) { RunReduce<true>(); }

// One array for two purposes: it is written anew while others still read.
template <bool Waits>
__global__ void TwoUses(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  const int first = tile[(threadIdx.x + 1) % kThreads];
  if (Waits) __syncthreads();
  tile[threadIdx.x] = 3 * in[i];
  __syncthreads();
  out[i] = first + tile[(threadIdx.x + 5) % kThreads];
}
template <bool Waits>
void RunTwoUses() {
  Buffer<int> in(Make<int>(kAll, kValues)), out(kAll);
  TwoUses<Waits><<<kBlocks, kThreads>>>(in, out);
  Show(out);
}
CASE(racy_second_use) { RunTwoUses<false>(); }
CASE(good_second_use) { RunTwoUses<true>(); }

// The first thread alone prepares what all read; in dynamic shared memory.
template <bool Waits>
__global__ void Broadcast(const int* in, int* out) {
  extern __shared__ int box[];
  __syncthreads();
  if (threadIdx.x == 0) box[0] = in[blockIdx.x];
  if (Waits) __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = box[0];
}
template <bool Waits>
void RunBroadcast() {
  Buffer<int> in(Make<int>(kBlocks, kValues)), out(kAll);
  Broadcast<Waits><<<kBlocks, kThreads, sizeof(int)>>>(in, out);
  Show(out);
}
CASE(racy_broadcast) { RunBroadcast<false>(); }
CASE(good_broadcast) { RunBroadcast<true>(); }

// Neighbours of one array in place, without anything between blocks.
template <bool InPlace>
__global__ void Shift(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) out[i] = (InPlace ? out : in)[i + 1];
}
template <bool InPlace>
void RunShift(int blocks, int threads) {
  Buffer<int> in(Make<int>(kAll, kValues)), out(Make<int>(kAll, kValues));
  Shift<InPlace><<<blocks, threads>>>(in, out, kAll);
  Show(out);
}
CASE(racy_blocks) { RunShift<true>(kAll, 1); }
CASE(good_blocks) { RunShift<false>(kAll, 1); }
CASE(racy_threads) { RunShift<true>(kBlocks, kThreads); }
CASE(good_threads) { RunShift<false>(kBlocks, kThreads); }

__global__ void LastWins(int* out) {
  if (threadIdx.x == 3) *out = blockIdx.x;
}
CASE(racy_writes_of_blocks) {
  Buffer<int> out(1);
  LastWins<<<kBlocks, kThreads>>>(out);
  Show(out);
}

// Lanes that take it for granted that they go in step.
template <bool Waits>
__global__ void InStep(const int* in, int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  tile[threadIdx.x + 32] = in[threadIdx.x + 32];
  if (Waits) __syncwarp();
  for (int half = 32; half > 0; half /= 2) {
    const int sum = tile[threadIdx.x] + tile[threadIdx.x + half];
    if (Waits) __syncwarp();
    if (threadIdx.x < half) tile[threadIdx.x] = sum;
    if (Waits) __syncwarp();
  }
  if (threadIdx.x == 0) *out = tile[0];
}
template <bool Waits>
void RunInStep() {
  Buffer<int> in(Make<int>(64, kValues)), out(1);
  InStep<Waits><<<1, 32>>>(in, out);
  Show(out);
}
CASE(racy_in_step) { RunInStep<false>(); }
CASE(good_in_step) { RunInStep<true>(); }

// Each warp is in step with itself, but not with the next one.
template <bool Waits>
__global__ void AcrossWarps(const int* in, int* out) {
  __shared__ int sums[kThreads / 32];
  int sum = in[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  if (Waits) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  int all = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) all += sums[warp];
  out[threadIdx.x] = all;
}
template <bool Waits>
void RunAcrossWarps() {
  Buffer<int> in(Make<int>(kThreads, kValues)), out(kThreads);
  AcrossWarps<Waits><<<1, kThreads>>>(in, out);
  Show(out);
}
CASE(racy_across_warps) { RunAcrossWarps<false>(); }
CASE(good_across_warps) { RunAcrossWarps<true>(); }

// ---- no races

__global__ void Histogram(const int* in, unsigned int* bins) {
  __shared__ unsigned int own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&own[in[blockIdx.x * kThreads + threadIdx.x] % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
CASE(good_histogram) {
  Buffer<int> in(Make<int>(kAll, kValues));
  Buffer<unsigned int> bins(16);
  Histogram<<<kBlocks, kThreads>>>(in, bins);
  Show(bins);
}

// Who comes last adds up; votes, masks and lanes that end early.
__global__ void LastBlock(const int* in, int* sums, unsigned int* ended, int* result) {
  __shared__ bool last;
  const unsigned int odd = __ballot_sync(0xffffffffu, in[threadIdx.x] % 2);
  int sum = in[blockIdx.x * kThreads + threadIdx.x] + __popc(odd);
  if (__activemask() == 0xffffffffu) sum += __reduce_add_sync(0xffffffffu, sum);
  sum = __syncthreads_count(sum % 3 == 0) + __shfl_down_sync(0xffffffffu, sum, 3);
  if (threadIdx.x == 5) {
    sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(ended, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x >= 40) return;
  int all = 0;
  for (unsigned int i = 0; i < gridDim.x; ++i) all += sums[i];
  if (threadIdx.x >= 32) return;
  all = __shfl_sync(0xffffffffu, all + threadIdx.x, 7);
  result[threadIdx.x] = all;
}
CASE(good_last_block) {
  Buffer<int> in(Make<int>(kAll, kValues)), sums(kBlocks), result(32);
  Buffer<unsigned int> ended(1);
  LastBlock<<<kBlocks, kThreads>>>(in, sums, ended, result);
  Show(result);
}

// ---- orders

__global__ void Note(unsigned int* next, int* order) {
  order[atomicAdd(next, 1u)] =
      static_cast<int>(blockIdx.x * 1000 + threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
__global__ void NoteTwice(unsigned int* next, int* order) {
  order[atomicAdd(next, 1u)] = static_cast<int>(threadIdx.x);
  __syncthreads();
  order[atomicAdd(next, 1u)] = static_cast<int>(threadIdx.x);
}
std::vector<int> OrderOf(void (*kernel)(unsigned int*, int*), dim3 grid, dim3 block, int count) {
  Buffer<unsigned int> next(1);
  Buffer<int> order(count);
  kernel<<<grid, block>>>(next, order);
  return order.Read();
}
void Print(const std::vector<int>& values) {
  for (const int value : values) std::cout << value << " ";
  std::cout << "\n";
}
CASE(order_of_blocks) { Print(OrderOf(Note, dim3(7), dim3(1), 7)); }
CASE(order_of_threads) { Print(OrderOf(Note, dim3(2), dim3(2, 2, 2), 16)); }
CASE(order_of_warps) { Print(OrderOf(Note, dim3(1), dim3(70), 70)); }
CASE(order_of_waiting_threads) { Print(OrderOf(NoteTwice, dim3(1), dim3(4), 8)); }
CASE(order_of_waiting_warps) { Print(OrderOf(NoteTwice, dim3(1), dim3(70), 140)); }

CASE(texts) {
  for (const char* text : {"threads-backward", "threads-forward warps-reversed", "blocks-shuffled=", "blocks-shuffled=x",
                           "blocks-reversed,blocks-shuffled=1", "one-block two-blocks"}) {
    SAME(cupilot_host_set_schedule(text), 1);
  }
  SAME(OrderOf(Note, dim3(3), dim3(1), 3).size(), 3u);
  SAME(cupilot_host_set_schedule(" blocks-reversed, one-block"), 0);
  SAME_ALL(OrderOf(Note, dim3(3), dim3(1), 3), (std::vector<int>{2000, 1000, 0}));
  SAME(cupilot_host_set_schedule("nonsense"), 1);
  SAME_ALL(OrderOf(Note, dim3(3), dim3(1), 3), (std::vector<int>{2000, 1000, 0}));
  SAME(cupilot_host_set_schedule("one-block"), 0);
  SAME_ALL(OrderOf(Note, dim3(3), dim3(1), 3), (std::vector<int>{0, 1000, 2000}));
  SAME(cupilot_host_set_schedule(""), 0);
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
