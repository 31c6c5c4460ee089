// Kernels with and without what a watch finds (cupilot_host_watch.h). Run with a case's name it
// prints one line for each finding.
#include "checks.h"

#include <cooperative_groups.h>
#include <cuda/atomic>

#include <cstdlib>

#include "cupilot_host_watch.h"

namespace cg = cooperative_groups;

constexpr int kBlocks = 4, kThreads = 64, kAll = kBlocks * kThreads;

// Memory in the middle of more, as a case's buffers lie.
struct Watched {
  int* memory = nullptr;
  int *in, *out, *work;
  Watched() {
    cudaMallocManaged(&memory, 4096 * sizeof(int));
    cudaMemset(memory, 0, 4096 * sizeof(int));
    in = memory + 512;
    out = memory + 1536;
    work = memory + 2560;
    for (int i = 0; i < kAll; ++i) in[i] = i * 7 % 31;
  }
  template <class Launch>
  void Run(const Launch& launch, unsigned long most = 0) {
    const cupilot_host_watch_range ranges[] = {{"in", in, kAll * sizeof(int), sizeof(int), 1},
                                               {"out", out, kAll * sizeof(int), sizeof(int), 0},
                                               {"work", work, kAll * sizeof(int), sizeof(int), 0}};
    const cupilot_host_watch_settings settings = {ranges, 3,   memory, 4096 * sizeof(int),
                                                  most,   0x7f};
    cupilot_host_watch_begin(&settings);
    launch();
    cudaDeviceSynchronize();
    cupilot_host_watch_report report;
    cupilot_host_watch_end(&report);
    for (unsigned i = 0; i < report.count; ++i) {
      std::printf("%d %s: %s\n", static_cast<int>(report.findings[i].kind), report.findings[i].name,
                  report.findings[i].detail);
    }
    if (report.stopped) std::printf("stopped\n");
    if (report.accesses == 0) std::printf("nothing was seen\n");
  }
};
#define WATCH(kernel, grid, block, shared) \
  Watched w;                               \
  w.Run([&] { kernel<<<grid, block, shared>>>(w.in, w.out, w.work); })
#define WATCHED_CASE(name, kernel, shared) \
  CASE(name) { WATCH(kernel, kBlocks, kThreads, shared); }

// ---- clean ----

__global__ void Tree(const int* in, int* out, int*) {
  __shared__ int part[kThreads];
  part[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
WATCHED_CASE(clean_tree, Tree, 0)

__global__ void LastBlock(const int* in, int* out, int* work) {
  __shared__ bool last;
  const int sum = in[blockIdx.x * kThreads + threadIdx.x];
  if (threadIdx.x == 0) {
    out[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(work, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 1) return;
  int all = 0;
  for (unsigned int i = 0; i < gridDim.x; ++i) all += out[i];
  out[kAll - 1] = all;
}
WATCHED_CASE(clean_last_block, LastBlock, 0)

// The counter is ready for the next launch: by the last block, or by whoever was told.
template <bool Fences>
__global__ void ResetsItsCounter(const int* in, int* out, int* work) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = in[blockIdx.x];
    if (Fences) __threadfence();
    last = atomicAdd(work, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 1) *work = 0;
}
WATCHED_CASE(clean_counter_reset, ResetsItsCounter<true>, 0)
WATCHED_CASE(clean_counter_reset_without_fences, ResetsItsCounter<false>, 0)
__global__ void ResetsItsFlag(const int* in, int* out, int* work) {
  volatile int* flag = work;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    out[0] = in[0] + 5;
    __threadfence();
    *flag = 1;
  } else if (blockIdx.x == 1) {
    while (*flag == 0) {
    }
    __threadfence();
    out[1] = out[0];
    *flag = 0;
  }
}
WATCHED_CASE(clean_flag_reset, ResetsItsFlag, 0)

// Each thread fences what it has left, and one speaks for all.
__global__ void LastBlockOfAll(const int* in, int* out, int* work) {
  __shared__ bool last;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = in[i];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(work, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  int all = 0;
  for (int k = 0; k < gridDim.x * kThreads; ++k) all += out[k];
  __syncthreads();
  work[1 + threadIdx.x] = all;
}
WATCHED_CASE(clean_last_block_of_all, LastBlockOfAll, 0)

__global__ void LastBlockByReference(const int* in, int* out, int* work) {
  __shared__ bool last;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> count(*work);
    last = count.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int all = 0;
  for (int k = 0; k < gridDim.x * kThreads; ++k) all += out[k];
  __syncthreads();
  work[1 + threadIdx.x] = all;
}
WATCHED_CASE(clean_last_block_by_reference, LastBlockByReference, 0)

__global__ void Warps(const int* in, int* out, int*) {
  __shared__ int box[kThreads];
  const int t = threadIdx.x, lane = t % 32;
  int sum = in[blockIdx.x * kThreads + t];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  box[t] = sum;
  __syncwarp();
  const int other = box[t ^ 1];
  __syncwarp();
  if (lane < 8) box[t] = other;
  __syncwarp();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
  box[t] = tile.thread_rank();
  tile.sync();
  out[blockIdx.x * kThreads + t] = box[t / 8 * 8 + (t + 3) % 8];
}
WATCHED_CASE(clean_warps, Warps, 0)

__global__ void Buffers(const int* in, int* out, int*) {
  __shared__ int box[2][kThreads];
  const int t = threadIdx.x;
  int sum = 0;
  for (int step = 0; step < 6; ++step) {
    box[step % 2][t] = in[(blockIdx.x * kThreads + t + step) % kAll];
    __syncthreads();
    sum += box[step % 2][kThreads - 1 - t];
  }
  out[blockIdx.x * kThreads + t] = sum;
}
WATCHED_CASE(clean_double_buffer, Buffers, 0)

__global__ void Counts(const int* in, int* out, int* work) {
  __shared__ int bins[32];
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * kThreads + threadIdx.x]], 1);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
  float* maximum = reinterpret_cast<float*>(work);
  int old = work[1], assumed;
  do {
    assumed = old;
    old = atomicCAS(&work[1], assumed, assumed + 3);
  } while (old != assumed);
  atomicAdd(maximum, 1.0f);
}
WATCHED_CASE(clean_atomics, Counts, 0)

__global__ void SameValue(const int* in, int* out, int* work) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (in[blockIdx.x * kThreads + threadIdx.x] > 3) found = 1;
  __syncthreads();
  if (found) work[0] = 1;
  out[blockIdx.x * kThreads + threadIdx.x] = found;
}
WATCHED_CASE(clean_same_value, SameValue, 0)

// Neighbouring bytes belong to different threads.
__global__ void Bytes(const int* in, int* out, int* work) {
  unsigned char* bytes = reinterpret_cast<unsigned char*>(out);
  const int i = blockIdx.x * kThreads + threadIdx.x;
  bytes[i] = in[i];
  reinterpret_cast<short*>(work)[i] = in[i];
}
WATCHED_CASE(clean_bytes, Bytes, 0)

__global__ void Dynamic(const int* in, int* out, int*) {
  extern __shared__ int box[];
  box[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = box[(threadIdx.x + 5) % kThreads];
}
WATCHED_CASE(clean_dynamic, Dynamic, kThreads * sizeof(int))

__global__ void OddCopies(const int* in, int* out, int*) {
  __shared__ int box[3 * kThreads];
  memcpy(box + 3 * threadIdx.x, in + threadIdx.x, 12);
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = box[3 * kThreads - 1 - threadIdx.x];
}
WATCHED_CASE(clean_copies_of_odd_sizes, OddCopies, 0)

struct Four {
  int a, b, c, d;
};
struct Seven {
  int values[7];
};
__global__ void CopiedStructures(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < 32) reinterpret_cast<Seven*>(out)[i] = reinterpret_cast<const Seven*>(in)[i];
}
WATCHED_CASE(clean_copied_structures, CopiedStructures, 0)

__global__ void LibraryCopies(const int* in, int* out, int* work) {
  const int i = blockIdx.x * kThreads + threadIdx.x, count = 1 + in[0];
  memcpy(out + i * count, in + i, count * sizeof(int));
  memset(work + i * count, in[1], count * sizeof(int));
}
WATCHED_CASE(clean_copies_of_the_library, LibraryCopies, 0)

// Whole structures, in place; a launch comes after another.
__global__ void Copies(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= kAll / 4) return;
  reinterpret_cast<Four*>(out)[i] = reinterpret_cast<const Four*>(in)[i];
}
__global__ void Reverse(const int*, int* out, int* work) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  work[i] = out[kAll - 1 - i];
}
CASE(clean_two_launches) {
  Watched w;
  w.Run([&] {
    Copies<<<kBlocks, kThreads>>>(w.in, w.out, w.work);
    Reverse<<<kBlocks, kThreads>>>(w.in, w.out, w.work);
  });
}

// The others look whether there is something left to do; what they see of it does not matter.
__global__ void Hint(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (in[i] <= out[0]) return;
  atomicMax(&out[0], in[i]);
}
WATCHED_CASE(clean_hint, Hint, 0)

// A block waits for what the one before it has published.
__global__ void Chain(const int* in, int* out, int* work) {
  __shared__ int before;
  if (threadIdx.x == 0) {
    before = 0;
    if (blockIdx.x > 0) {
      while (*reinterpret_cast<volatile int*>(&work[blockIdx.x - 1]) == 0) {
      }
      __threadfence();
      before = out[blockIdx.x - 1];
    }
    out[blockIdx.x] = before + in[blockIdx.x];
    __threadfence();
    *reinterpret_cast<volatile int*>(&work[blockIdx.x]) = 1;
  }
  __syncthreads();
  work[kThreads + blockIdx.x * kThreads / 2 + threadIdx.x / 2] = before;
}
WATCHED_CASE(clean_chain, Chain, 0)

// ---- with something to find ----

__global__ void NoBarrier(const int* in, int* out, int*) {
  __shared__ int box[kThreads];
  box[threadIdx.x] = in[threadIdx.x];
  out[blockIdx.x * kThreads + threadIdx.x] = box[threadIdx.x / 2];
}
WATCHED_CASE(no_barrier, NoBarrier, 0)

// The second barrier of a loop: reads of one step and writes of the next.
__global__ void NoSecondBarrier(const int* in, int* out, int*) {
  __shared__ int box[kThreads];
  int sum = 0;
  for (int step = 0; step < 3; ++step) {
    box[threadIdx.x] = in[(threadIdx.x + step) % kAll];
    __syncthreads();
    sum += box[kThreads - 1 - threadIdx.x];
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}
WATCHED_CASE(no_second_barrier, NoSecondBarrier, 0)

__global__ void InStep(const int* in, int* out, int*) {
  __shared__ volatile int box[kThreads];
  box[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x % 32 < 16) box[threadIdx.x] += box[threadIdx.x + 16];
  out[blockIdx.x * kThreads + threadIdx.x] = box[threadIdx.x];
}
WATCHED_CASE(lanes_in_step, InStep, 0)

__global__ void WrongMask(const int* in, int* out, int*) {
  __shared__ int box[kThreads];
  box[threadIdx.x] = in[threadIdx.x];
  __syncwarp(threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u);
  out[blockIdx.x * kThreads + threadIdx.x] = box[threadIdx.x / 32 * 32 + (threadIdx.x + 16) % 32];
}
WATCHED_CASE(wrong_mask, WrongMask, 0)

__global__ void WarpForBlock(const int* in, int* out, int*) {
  __shared__ int box[kThreads];
  box[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[blockIdx.x * kThreads + threadIdx.x] = box[kThreads - 1 - threadIdx.x];
}
WATCHED_CASE(warp_for_block, WarpForBlock, 0)

__global__ void LostInShared(const int* in, int* out, int*) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  sum += in[threadIdx.x] + 1;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
WATCHED_CASE(lost_in_shared, LostInShared, 0)

__global__ void LostInGlobal(const int* in, int* out, int*) {
  out[0] += in[blockIdx.x * kThreads + threadIdx.x] + 1;
}
WATCHED_CASE(lost_in_global, LostInGlobal, 0)

__global__ void LostVolatile(const int* in, int* out, int*) {
  volatile int* sum = out;
  if (threadIdx.x == 0) *sum = *sum + in[blockIdx.x] + 1;
}
WATCHED_CASE(lost_volatile, LostVolatile, 0)

// Each thread's structure reaches into the next one's.
__global__ void StructuresCollide(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < 32) *reinterpret_cast<Seven*>(out + i * 0) = *reinterpret_cast<const Seven*>(in + 7 * i);
}
WATCHED_CASE(structures_collide, StructuresCollide, 0)
__global__ void LibraryCopiesCollide(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  memcpy(out, in + i, (1 + in[0]) * sizeof(int));
}
WATCHED_CASE(copies_of_the_library_collide, LibraryCopiesCollide, 0)

__global__ void NoFence(const int* in, int* out, int* work) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = in[blockIdx.x] + 1;
    last = atomicAdd(work, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int all = 0;
  for (unsigned int i = 0; i < gridDim.x; ++i) all += out[i];
  work[1] = all;
}
WATCHED_CASE(no_fence, NoFence, 0)

__global__ void NotTheLast(const int* in, int* out, int* work) {
  if (threadIdx.x != 0) return;
  out[blockIdx.x] = in[blockIdx.x] + 1;
  if (blockIdx.x != gridDim.x - 1) return;
  int all = 0;
  for (unsigned int i = 0; i < gridDim.x; ++i) all += out[i];
  work[1] = all;
}
WATCHED_CASE(not_the_last, NotTheLast, 0)

__global__ void AtomicsNotAwaited(const int* in, int* out, int*) {
  __shared__ int bins[32];
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x]], 1);
  if (threadIdx.x < 32) out[blockIdx.x * 32 + threadIdx.x] = bins[threadIdx.x];
}
WATCHED_CASE(atomics_not_awaited, AtomicsNotAwaited, 0)

__global__ void Unwritten(const int* in, int* out, int*) {
  __shared__ int box[kThreads];
  if (threadIdx.x != 5) box[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = box[threadIdx.x];
}
WATCHED_CASE(unwritten, Unwritten, 0)

__global__ void PastTheEnd(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = in[i] + 0 * in[i + 1];
  if (in[i + 1] == 77777) out[i] = 0;
}
WATCHED_CASE(past_the_end, PastTheEnd, 0)

__global__ void OffItsAlignment(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int2 two = i == 0 ? reinterpret_cast<const int2*>(in + 1)[0] : make_int2(0, 0);
  out[i] = two.x + two.y;
}
WATCHED_CASE(off_its_alignment, OffItsAlignment, 0)

__global__ void BeforeTheStart(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i - 1] = in[i];
}
WATCHED_CASE(before_the_start, BeforeTheStart, 0)

__global__ void PastTheShared(const int* in, int* out, int*) {
  extern __shared__ int box[];
  box[threadIdx.x + 1] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = box[1 + threadIdx.x / 2];
}
WATCHED_CASE(past_the_shared, PastTheShared, kThreads * sizeof(int))

__global__ void Borrows(const int* in, int* out, int*) {
  int* own = const_cast<int*>(in);
  const int i = blockIdx.x * kThreads + threadIdx.x, old = own[i];
  *const_cast<volatile int*>(own + i) = 99;
  out[i] = *const_cast<volatile int*>(own + i);
  *const_cast<volatile int*>(own + i) = old;
}
WATCHED_CASE(borrows_its_input, Borrows, 0)

__constant__ int calls[2] = {0, 0};
__global__ void Remembers(const int* in, int* out, int*) {
  volatile int* memory = const_cast<int*>(&calls[1]);
  if (blockIdx.x == 0 && threadIdx.x == 0) *memory = *memory + 1;
  out[blockIdx.x * kThreads + threadIdx.x] = in[0];
}
WATCHED_CASE(state_in_constant_memory, Remembers, 0)

// ---- what the language does not define ----

__global__ void Overflows(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int great = 2147483640 + (in[i] & 1);
  out[i] = great + in[i] > 0 ? 1 : 2;
}
WATCHED_CASE(overflow, Overflows, 0)

__global__ void ShiftsTooFar(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = static_cast<int>(1u << (in[i] + 2));
}
WATCHED_CASE(shift, ShiftsTooFar, 0)

__global__ void Converts(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = static_cast<int>(1e9f * in[i]);
}
WATCHED_CASE(conversion, Converts, 0)

__global__ void IndexesTooFar(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int table[30] = {1, 2, 3};
  out[i] = table[in[i]];
}
WATCHED_CASE(index, IndexesTooFar, 0)

__global__ void LeavesItsObject(const int* in, int* out, int*) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  int own[32] = {1, 2, 3};
  volatile int* all = own;
  out[i] = all[in[i] + 2];
}
WATCHED_CASE(object, LeavesItsObject, 0)

// Defined, or by all compilers: wrapping, shifts of negative numbers, bits that are shifted out, a
// row's end in an array of rows, conversions of what fits, pointers beyond what is used.
__global__ void IsDefined(const int* in, int* out, int*) {
  __shared__ int rows[2][kThreads / 2];
  const int i = blockIdx.x * kThreads + threadIdx.x, *far = in - 100000;
  int* flat = &rows[0][0];
  flat[threadIdx.x] = in[i];
  __syncthreads();
  unsigned int hash = in[i] * 2654435761u;
  hash ^= hash << 31;
  int bits = -1 << (in[i] & 15);
  bits ^= (1 << 30) << 3;
  out[i] = static_cast<int>(hash) ^ bits ^ static_cast<int>(-1.5f * in[i]) ^ far[i + 100000] ^
           flat[kThreads - 1 - threadIdx.x];
}
WATCHED_CASE(clean_definitions, IsDefined, 0)

CASE(limit_of_accesses) {
  Watched w;
  w.Run([&] { Tree<<<kBlocks, kThreads>>>(w.in, w.out, w.work); }, 100);
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
