// cuda::atomic and cuda::atomic_ref, against a plain loop.
#include <cuda/atomic>

#include "checks.h"

using checks::Buffer;
using checks::Make;

constexpr int kBlocks = 16, kThreads = 64, kAll = kBlocks * kThreads;

template <class T>
struct Cells {
  T sum, difference, least, most, swapped;
};
template <class T, cuda::thread_scope Scope>
__global__ void Change(Cells<T>* cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<T, Scope>(cells->sum).fetch_add(T(i % 5), cuda::memory_order_relaxed);
  cuda::atomic_ref<T, Scope>(cells->difference).fetch_sub(T(2));
  cuda::atomic_ref<T, Scope>(cells->least).fetch_min(T(1000 - i));
  cuda::atomic_ref<T, Scope>(cells->most).fetch_max(T(i), cuda::std::memory_order_acq_rel);
  // Doubled as often as there are threads in the first warp.
  if (i >= 8) return;
  cuda::atomic_ref<T, Scope> swapped(cells->swapped);
  T old = swapped.load(cuda::memory_order_relaxed);
  while (!swapped.compare_exchange_weak(old, old * 2, cuda::memory_order_acq_rel,
                                        cuda::memory_order_relaxed)) {
  }
}
template <class T, cuda::thread_scope Scope>
void CheckChange() {
  Buffer<Cells<T>> cells(1, Cells<T>{T(0), T(3 * kAll), T(5000), T(0), T(1)});
  Change<T, Scope><<<kBlocks, kThreads>>>(static_cast<Cells<T>*>(cells));
  T sum = T(0);
  for (int i = 0; i < kAll; ++i) sum = sum + T(i % 5);
  const Cells<T> result = cells.Read()[0];
  SAME(result.sum, sum);
  SAME(result.difference, T(kAll));
  SAME(result.least, T(1000 - kAll + 1));
  SAME(result.most, T(kAll - 1));
  SAME(result.swapped, T(256));
}
CASE(changes_of_every_type_and_scope) {
  CheckChange<int, cuda::thread_scope_device>();
  CheckChange<long long, cuda::thread_scope_block>();
  CheckChange<float, cuda::thread_scope_system>();
  CheckChange<double, cuda::thread_scope_device>();
}

__global__ void Bits(unsigned int* words, unsigned int* old) {
  cuda::atomic_ref<unsigned int, cuda::thread_scope_device> all(words[0]), any(words[1]), odd(words[2]);
  all.fetch_and(~(1u << threadIdx.x));
  any.fetch_or(1u << threadIdx.x);
  odd.fetch_xor(1u << (threadIdx.x / 2));
  cuda::atomic_ref<unsigned int, cuda::thread_scope_device> exchanged(words[3]);
  if (threadIdx.x == 0) *old = exchanged.exchange(9, cuda::memory_order_acquire);
}
CASE(bits_and_exchange) {
  Buffer<unsigned int> words(Make<unsigned int>(4, [](int i) { return i == 0 ? ~0u : i == 3 ? 4 : 0; })), old(1);
  Bits<<<1, 16>>>(words, old);
  SAME_ALL(words.Read(), (std::vector<unsigned int>{0xffff0000u, 0xffffu, 0u, 9u}));
  SAME(old.Read()[0], 4u);
}

// A ticket, and a value that is passed on under it.
struct Baton {
  cuda::atomic<int, cuda::thread_scope_device> turn;
  int value;
};
__global__ void PassOn(Baton* baton) {
  if (threadIdx.x != 0) return;
  // Blocks begin in their order, so that each finds that the one before has begun.
  while (baton->turn.load(cuda::memory_order_acquire) != static_cast<int>(blockIdx.x)) {
  }
  baton->value = baton->value * 3 + static_cast<int>(blockIdx.x);
  baton->turn.store(static_cast<int>(blockIdx.x) + 1, cuda::memory_order_release);
}
CASE(values_are_passed_on) {
  Baton* baton = nullptr;
  WORKS(cudaMallocManaged(&baton, sizeof(Baton)));
  new (baton) Baton{};
  PassOn<<<12, 1>>>(baton);
  WORKS(cudaDeviceSynchronize());
  int expected = 0;
  for (int i = 0; i < 12; ++i) expected = expected * 3 + i;
  SAME(baton->value, expected);
  SAME(static_cast<int>(baton->turn), 12);
  WORKS(cudaFree(baton));
}

__device__ cuda::std::atomic<int> counter;
__global__ void Count(int* ranks) {
  ranks[blockIdx.x * blockDim.x + threadIdx.x] = counter++;
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}
CASE(a_counter_of_the_device) {
  Buffer<int> ranks(kAll);
  Count<<<kBlocks, kThreads>>>(ranks);
  std::vector<int> seen(kAll);
  for (const int rank : ranks.Read()) ++seen[rank];
  SAME_ALL(seen, std::vector<int>(kAll, 1));
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
