/* Device functions that are no arithmetic: barriers, warp operations, loads, fences, bits and
 * conversions. Those that need the executing thread are declared as user text names them; the lowering
 * adds the thread as the first argument, and the overloads in cupilot_host_lowered.h do the work. */
#ifndef CUPILOT_HOST_DEVICE_FUNCTIONS_H_
#define CUPILOT_HOST_DEVICE_FUNCTIONS_H_

#include "crt/host_defines.h"
#include "crt/library_functions.h"
#include "vector_types.h"
#include "vector_functions.h"

#ifndef CUPILOT_HOST_DEVICE
#define CUPILOT_HOST_DEVICE static __inline__ __device__
#endif

/* Barriers of a block. */
__device__ void __syncthreads();
__device__ int __syncthreads_count(int predicate);
__device__ int __syncthreads_and(int predicate);
__device__ int __syncthreads_or(int predicate);

/* Operations of a warp. */
__device__ void __syncwarp(unsigned int mask = 0xffffffffu);
__device__ unsigned int __activemask();
__device__ unsigned int __ballot_sync(unsigned int mask, int predicate);
__device__ int __any_sync(unsigned int mask, int predicate);
__device__ int __all_sync(unsigned int mask, int predicate);
template <class T>
__device__ T __shfl_sync(unsigned int mask, T value, int lane, int width = 32);
template <class T>
__device__ T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32);
template <class T>
__device__ T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32);
template <class T>
__device__ T __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width = 32);
template <class T>
__device__ unsigned int __match_any_sync(unsigned int mask, T value);
template <class T>
__device__ unsigned int __match_all_sync(unsigned int mask, T value, int* predicate);
__device__ unsigned int __reduce_add_sync(unsigned int mask, unsigned int value);
__device__ unsigned int __reduce_min_sync(unsigned int mask, unsigned int value);
__device__ unsigned int __reduce_max_sync(unsigned int mask, unsigned int value);
__device__ int __reduce_add_sync(unsigned int mask, int value);
__device__ int __reduce_min_sync(unsigned int mask, int value);
__device__ int __reduce_max_sync(unsigned int mask, int value);
__device__ unsigned int __reduce_and_sync(unsigned int mask, unsigned int value);
__device__ unsigned int __reduce_or_sync(unsigned int mask, unsigned int value);
__device__ unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value);

/* Fences and time. */
CUPILOT_HOST_DEVICE void __threadfence() {
  /* The thread sanitizer knows no fences: there every atomic operation orders what is around it. */
#if defined(CUPILOT_HOST_WATCH)
  cupilot_host_watch_fence();
#elif !defined(CUPILOT_HOST_THREAD_SANITIZER)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
CUPILOT_HOST_DEVICE void __threadfence_block() { __threadfence(); }
CUPILOT_HOST_DEVICE void __threadfence_system() { __threadfence(); }
CUPILOT_HOST_DEVICE void __nanosleep(unsigned int) {}
CUPILOT_HOST_DEVICE long long int clock64() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long int)now.tv_sec * 1000000000LL + now.tv_nsec;
}
CUPILOT_HOST_DEVICE unsigned long long int __globaltimer() {
  return (unsigned long long int)clock64();
}
__device__ void __trap();
CUPILOT_HOST_DEVICE void __brkpt() {}
CUPILOT_HOST_DEVICE void __prof_trigger(int) {}

/* Loads and stores with a cache hint: the hint has no meaning here. */
template <class T>
CUPILOT_HOST_DEVICE T __ldg(const T* address) {
  return *address;
}
template <class T>
CUPILOT_HOST_DEVICE T __ldca(const T* address) {
  return *address;
}
template <class T>
CUPILOT_HOST_DEVICE T __ldcg(const T* address) {
  return *address;
}
template <class T>
CUPILOT_HOST_DEVICE T __ldcs(const T* address) {
  return *address;
}
template <class T>
CUPILOT_HOST_DEVICE T __ldlu(const T* address) {
  return *address;
}
template <class T>
CUPILOT_HOST_DEVICE T __ldcv(const T* address) {
  return *const_cast<const volatile T*>(address);
}
template <class T>
CUPILOT_HOST_DEVICE void __stwb(T* address, T value) {
  *address = value;
}
template <class T>
CUPILOT_HOST_DEVICE void __stcg(T* address, T value) {
  *address = value;
}
template <class T>
CUPILOT_HOST_DEVICE void __stcs(T* address, T value) {
  *address = value;
}
template <class T>
CUPILOT_HOST_DEVICE void __stwt(T* address, T value) {
  *address = value;
}

/* Bits of integers. */
CUPILOT_HOST_DEVICE int __popc(unsigned int v) { return __builtin_popcount(v); }
CUPILOT_HOST_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
CUPILOT_HOST_DEVICE int __clz(int v) { return v == 0 ? 32 : __builtin_clz((unsigned int)v); }
CUPILOT_HOST_DEVICE int __clzll(long long v) {
  return v == 0 ? 64 : __builtin_clzll((unsigned long long)v);
}
CUPILOT_HOST_DEVICE int __ffs(int v) { return __builtin_ffs(v); }
CUPILOT_HOST_DEVICE int __ffsll(long long v) { return __builtin_ffsll(v); }
CUPILOT_HOST_DEVICE unsigned int __brev(unsigned int v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(v);
}
CUPILOT_HOST_DEVICE unsigned long long __brevll(unsigned long long v) {
  return ((unsigned long long)__brev((unsigned int)v) << 32) | __brev((unsigned int)(v >> 32));
}
CUPILOT_HOST_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  const unsigned long long both = ((unsigned long long)y << 32) | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned int nibble = (selector >> (4 * i)) & 0xfu;
    unsigned int byte = (unsigned int)(both >> (8 * (nibble & 7u))) & 0xffu;
    if (nibble & 8u) byte = (byte & 0x80u) ? 0xffu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}
CUPILOT_HOST_DEVICE int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
CUPILOT_HOST_DEVICE unsigned int __umulhi(unsigned int a, unsigned int b) {
  return (unsigned int)(((unsigned long long)a * b) >> 32);
}
__extension__ typedef __int128 cupilot_host_int128;
__extension__ typedef unsigned __int128 cupilot_host_uint128;
CUPILOT_HOST_DEVICE long long __mul64hi(long long a, long long b) {
  return (long long)(((cupilot_host_int128)a * b) >> 64);
}
CUPILOT_HOST_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((cupilot_host_uint128)a * b) >> 64);
}
CUPILOT_HOST_DEVICE int __mul24(int a, int b) {
  return (int)((unsigned int)((a << 8) >> 8) * (unsigned int)((b << 8) >> 8));
}
CUPILOT_HOST_DEVICE unsigned int __umul24(unsigned int a, unsigned int b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
CUPILOT_HOST_DEVICE unsigned int __sad(int a, int b, unsigned int c) {
  return c + (a > b ? (unsigned int)a - (unsigned int)b : (unsigned int)b - (unsigned int)a);
}
CUPILOT_HOST_DEVICE unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) {
  return c + (a > b ? a - b : b - a);
}
/* Sums of products of the bytes, or of two words and two bytes. */
#define CUPILOT_HOST_DOT(type, Byte, Word)                                                          \
  CUPILOT_HOST_DEVICE type __dp4a(type a, type b, type c) {                                         \
    for (int i = 0; i < 32; i += 8) {                                                               \
      c = (type)((unsigned int)c + (unsigned int)((int)(Byte)(a >> i) * (int)(Byte)(b >> i)));      \
    }                                                                                               \
    return c;                                                                                       \
  }                                                                                                 \
  CUPILOT_HOST_DEVICE type __dp2a_lo(type a, type b, type c) {                                      \
    return (type)((unsigned int)c + (unsigned int)((int)(Word)a * (int)(Byte)b) +                   \
                  (unsigned int)((int)(Word)(a >> 16) * (int)(Byte)(b >> 8)));                      \
  }                                                                                                 \
  CUPILOT_HOST_DEVICE type __dp2a_hi(type a, type b, type c) { return __dp2a_lo(a, b >> 16, c); }
CUPILOT_HOST_DOT(int, signed char, short)
CUPILOT_HOST_DOT(unsigned int, unsigned char, unsigned short)
#undef CUPILOT_HOST_DOT
CUPILOT_HOST_DEVICE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
CUPILOT_HOST_DEVICE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
CUPILOT_HOST_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high,
                                                 unsigned int shift) {
  return (unsigned int)((((((unsigned long long)high) << 32) | low) << (shift & 31u)) >> 32);
}
CUPILOT_HOST_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high,
                                                 unsigned int shift) {
  return (unsigned int)(((((unsigned long long)high) << 32) | low) >> (shift & 31u));
}

/* The same bits as another type. */
namespace cupilot_host {
template <class To, class From>
__device__ inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "types of one size");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}
}  // namespace cupilot_host
CUPILOT_HOST_DEVICE int __float_as_int(float v) { return cupilot_host::same_bits<int>(v); }
CUPILOT_HOST_DEVICE unsigned int __float_as_uint(float v) {
  return cupilot_host::same_bits<unsigned int>(v);
}
CUPILOT_HOST_DEVICE float __int_as_float(int v) { return cupilot_host::same_bits<float>(v); }
CUPILOT_HOST_DEVICE float __uint_as_float(unsigned int v) {
  return cupilot_host::same_bits<float>(v);
}
CUPILOT_HOST_DEVICE long long __double_as_longlong(double v) {
  return cupilot_host::same_bits<long long>(v);
}
CUPILOT_HOST_DEVICE double __longlong_as_double(long long v) {
  return cupilot_host::same_bits<double>(v);
}
CUPILOT_HOST_DEVICE int __double2hiint(double v) { return (int)(__double_as_longlong(v) >> 32); }
CUPILOT_HOST_DEVICE int __double2loint(double v) { return (int)__double_as_longlong(v); }
CUPILOT_HOST_DEVICE double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)(((unsigned long long)(unsigned int)high << 32) |
                                          (unsigned int)low));
}

#endif
