/* The definitions of what device_functions.h declares of barriers and warps: each waits in the runtime
 * and works on what the other lanes brought. */
#ifndef CUPILOT_HOST_CRT_WARP_FUNCTIONS_H_
#define CUPILOT_HOST_CRT_WARP_FUNCTIONS_H_

#include "../cupilot_host_lowered.h"
#include "../device_functions.h"

__device__ inline void __trap() { cupilot_host_trap(); }
__device__ inline void __syncthreads() { cupilot_host_barrier(1, 1); }
__device__ inline int __syncthreads_count(int p) { return cupilot_host_barrier(p, 0); }
__device__ inline int __syncthreads_and(int p) { return cupilot_host_barrier(p, 1); }
__device__ inline int __syncthreads_or(int p) { return cupilot_host_barrier(p, 2); }

namespace cupilot_host {

/* The values of a warp's lanes. */
template <class T>
struct gathered {
  static_assert(sizeof(T) <= 16, "a warp exchanges values of at most 16 bytes");
  alignas(16) char bytes[32 * sizeof(T)];
  unsigned int mask;  /* the lanes that took part */
  __device__ gathered(unsigned int lanes, const T& value) {
    mask = cupilot_host_exchange(lanes, &value, sizeof(T), bytes);
  }
  __device__ T of(unsigned int from) const {
    T value;
    memcpy(&value, bytes + (from & 31u) * sizeof(T), sizeof(T));
    return value;
  }
  __device__ bool has(unsigned int from) const { return (mask >> from & 1u) != 0; }
};

/* A shuffle moves eight bytes at a time. */
template <class T>
__device__ inline T shuffle(unsigned int mask, T value, int kind, int operand, int width) {
  static_assert(sizeof(T) <= 16, "a warp exchanges values of at most 16 bytes");
  unsigned long long words[2] = {0, 0};
  memcpy(words, &value, sizeof(T));
  words[0] = cupilot_host_shuffle(mask, words[0], kind, operand, width);
  if (sizeof(T) > 8) words[1] = cupilot_host_shuffle(mask, words[1], kind, operand, width);
  memcpy(&value, words, sizeof(T));
  return value;
}

template <class T, class Combine>
__device__ inline T reduce(unsigned int mask, T value, Combine combine) {
  const gathered<T> all(mask, value);
  bool first = true;
  T result = value;
  for (unsigned int i = 0; i < 32; ++i) {
    if (!all.has(i)) continue;
    result = first ? all.of(i) : combine(result, all.of(i));
    first = false;
  }
  return result;
}
template <class T>
struct sum_of {
  __device__ T operator()(T a, T b) const { return (T)(a + b); }
};
template <class T>
struct least_of {
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct most_of {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

}  // namespace cupilot_host

__device__ inline void __syncwarp(unsigned int mask) { (void)cupilot_host_ballot(mask, 1); }
/* Inlined: which lanes ask together is told by the place where they do. */
__device__ __forceinline__ unsigned int __activemask() { return cupilot_host_active_lanes(); }
__device__ inline unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return cupilot_host_ballot(mask, predicate);
}
__device__ inline int __any_sync(unsigned int mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
__device__ inline int __all_sync(unsigned int mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}
template <class T>
__device__ T __shfl_sync(unsigned int mask, T value, int lane, int width) {
  return cupilot_host::shuffle(mask, value, 0, lane, width);
}
template <class T>
__device__ T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width) {
  return cupilot_host::shuffle(mask, value, 1, (int)delta, width);
}
template <class T>
__device__ T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width) {
  return cupilot_host::shuffle(mask, value, 2, (int)delta, width);
}
template <class T>
__device__ T __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width) {
  return cupilot_host::shuffle(mask, value, 3, lane_mask, width);
}
template <class T>
__device__ unsigned int __match_any_sync(unsigned int mask, T value) {
  const cupilot_host::gathered<T> all(mask, value);
  unsigned int bits = 0;
  for (unsigned int i = 0; i < 32; ++i) {
    if (!all.has(i)) continue;
    const T other = all.of(i); /* bits are compared, as on a device */
    if (memcmp(&other, &value, sizeof(T)) == 0) bits |= 1u << i;
  }
  return bits;
}
template <class T>
__device__ unsigned int __match_all_sync(unsigned int mask, T value, int* predicate) {
  const unsigned int same = __match_any_sync(mask, value);
  const bool all = same == __ballot_sync(mask, 1);
  *predicate = all;
  return all ? same : 0u;
}
__device__ inline unsigned int __reduce_add_sync(unsigned int mask, unsigned int v) {
  return cupilot_host::reduce(mask, v, cupilot_host::sum_of<unsigned int>());
}
__device__ inline unsigned int __reduce_min_sync(unsigned int mask, unsigned int v) {
  return cupilot_host::reduce(mask, v, cupilot_host::least_of<unsigned int>());
}
__device__ inline unsigned int __reduce_max_sync(unsigned int mask, unsigned int v) {
  return cupilot_host::reduce(mask, v, cupilot_host::most_of<unsigned int>());
}
__device__ inline int __reduce_add_sync(unsigned int mask, int v) {
  return (int)__reduce_add_sync(mask, (unsigned int)v);
}
__device__ inline int __reduce_min_sync(unsigned int mask, int v) {
  return cupilot_host::reduce(mask, v, cupilot_host::least_of<int>());
}
__device__ inline int __reduce_max_sync(unsigned int mask, int v) {
  return cupilot_host::reduce(mask, v, cupilot_host::most_of<int>());
}
namespace cupilot_host {
struct and_of {
  __device__ unsigned int operator()(unsigned int a, unsigned int b) const { return a & b; }
};
struct or_of {
  __device__ unsigned int operator()(unsigned int a, unsigned int b) const { return a | b; }
};
struct xor_of {
  __device__ unsigned int operator()(unsigned int a, unsigned int b) const { return a ^ b; }
};
}  // namespace cupilot_host
__device__ inline unsigned int __reduce_and_sync(unsigned int mask, unsigned int v) {
  return cupilot_host::reduce(mask, v, cupilot_host::and_of());
}
__device__ inline unsigned int __reduce_or_sync(unsigned int mask, unsigned int v) {
  return cupilot_host::reduce(mask, v, cupilot_host::or_of());
}
__device__ inline unsigned int __reduce_xor_sync(unsigned int mask, unsigned int v) {
  return cupilot_host::reduce(mask, v, cupilot_host::xor_of());
}

#endif
