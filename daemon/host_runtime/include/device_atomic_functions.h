/* Atomic operations of device code as atomic operations of the host, relaxed as on a device. */
#ifndef CUPILOT_HOST_DEVICE_ATOMIC_FUNCTIONS_H_
#define CUPILOT_HOST_DEVICE_ATOMIC_FUNCTIONS_H_

#include "crt/host_defines.h"
#include "crt/library_functions.h"

#define CUPILOT_HOST_DEVICE static __inline__ __device__
#ifdef CUPILOT_HOST_THREAD_SANITIZER
#define CUPILOT_HOST_RELAXED __ATOMIC_ACQ_REL
#define CUPILOT_HOST_RELAXED_LOAD __ATOMIC_ACQUIRE
#else
#define CUPILOT_HOST_RELAXED __ATOMIC_RELAXED
#define CUPILOT_HOST_RELAXED_LOAD __ATOMIC_RELAXED
#endif

namespace cupilot_host {

template <unsigned long Bytes>
struct bits_of;
template <>
struct bits_of<2> {
  typedef unsigned short type;
};
template <>
struct bits_of<4> {
  typedef unsigned int type;
};
template <>
struct bits_of<8> {
  typedef unsigned long long type;
};

// Replaces *address by change(old) atomically and returns the old value.
template <class T, class Change>
__device__ inline T update(T* address, Change change) {
  typedef typename bits_of<sizeof(T)>::type Bits;
  Bits* const word = reinterpret_cast<Bits*>(address);
  Bits old_bits = __atomic_load_n(word, CUPILOT_HOST_RELAXED_LOAD);
  for (;;) {
    T old_value;
    memcpy(&old_value, &old_bits, sizeof(T));
    const T new_value = change(old_value);
    Bits new_bits;
    memcpy(&new_bits, &new_value, sizeof(T));
    if (__atomic_compare_exchange_n(word, &old_bits, new_bits, true, CUPILOT_HOST_RELAXED,
                                    CUPILOT_HOST_RELAXED_LOAD)) {
      return old_value;
    }
  }
}

/* A plain read that the thread sanitizer is told to be atomic. */
template <class T>
__device__ inline T read_atomic(const volatile T& place) {
  typedef typename bits_of<sizeof(T)>::type Bits;
  const Bits bits = __atomic_load_n(reinterpret_cast<const volatile Bits*>(&place), CUPILOT_HOST_RELAXED_LOAD);
  T value;
  memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
struct add_to {
  T value;
  __device__ T operator()(T old) const { return old + value; }
};
template <class T>
struct smaller_of {
  T value;
  __device__ T operator()(T old) const { return old < value ? old : value; }
};
template <class T>
struct larger_of {
  T value;
  __device__ T operator()(T old) const { return old > value ? old : value; }
};
template <class T>
struct increment_until {
  T limit;
  __device__ T operator()(T old) const { return old >= limit ? T(0) : T(old + 1); }
};
template <class T>
struct decrement_until {
  T limit;
  __device__ T operator()(T old) const { return (old == 0 || old > limit) ? limit : T(old - 1); }
};

}  // namespace cupilot_host

/* One set for the device and the two other scopes; all scopes are the same here. */
#define CUPILOT_HOST_ATOMIC_INTEGER(suffix, T)                                          \
  CUPILOT_HOST_DEVICE T atomicAdd##suffix(T* address, T value) {                        \
    return __atomic_fetch_add(address, value, CUPILOT_HOST_RELAXED);                        \
  }                                                                                     \
  CUPILOT_HOST_DEVICE T atomicSub##suffix(T* address, T value) {                        \
    return __atomic_fetch_sub(address, value, CUPILOT_HOST_RELAXED);                        \
  }                                                                                     \
  CUPILOT_HOST_DEVICE T atomicAnd##suffix(T* address, T value) {                        \
    return __atomic_fetch_and(address, value, CUPILOT_HOST_RELAXED);                        \
  }                                                                                     \
  CUPILOT_HOST_DEVICE T atomicOr##suffix(T* address, T value) {                         \
    return __atomic_fetch_or(address, value, CUPILOT_HOST_RELAXED);                         \
  }                                                                                     \
  CUPILOT_HOST_DEVICE T atomicXor##suffix(T* address, T value) {                        \
    return __atomic_fetch_xor(address, value, CUPILOT_HOST_RELAXED);                        \
  }                                                                                     \
  CUPILOT_HOST_DEVICE T atomicExch##suffix(T* address, T value) {                       \
    return __atomic_exchange_n(address, value, CUPILOT_HOST_RELAXED);                       \
  }                                                                                     \
  CUPILOT_HOST_DEVICE T atomicMin##suffix(T* address, T value) {                        \
    return cupilot_host::update(address, cupilot_host::smaller_of<T>{value});           \
  }                                                                                     \
  CUPILOT_HOST_DEVICE T atomicMax##suffix(T* address, T value) {                        \
    return cupilot_host::update(address, cupilot_host::larger_of<T>{value});            \
  }                                                                                     \
  CUPILOT_HOST_DEVICE T atomicCAS##suffix(T* address, T compare, T value) {             \
    __atomic_compare_exchange_n(address, &compare, value, false, CUPILOT_HOST_RELAXED, \
                                CUPILOT_HOST_RELAXED_LOAD);                                      \
    return compare;                                                                     \
  }
#define CUPILOT_HOST_ATOMIC_FLOAT(suffix, T)                                            \
  CUPILOT_HOST_DEVICE T atomicAdd##suffix(T* address, T value) {                        \
    return cupilot_host::update(address, cupilot_host::add_to<T>{value});               \
  }
#define CUPILOT_HOST_ATOMIC_SCOPE(suffix)                                               \
  CUPILOT_HOST_ATOMIC_INTEGER(suffix, int)                                              \
  CUPILOT_HOST_ATOMIC_INTEGER(suffix, unsigned int)                                     \
  CUPILOT_HOST_ATOMIC_INTEGER(suffix, long long)                                        \
  CUPILOT_HOST_ATOMIC_INTEGER(suffix, unsigned long long)                               \
  CUPILOT_HOST_ATOMIC_FLOAT(suffix, float)                                              \
  CUPILOT_HOST_ATOMIC_FLOAT(suffix, double)                                             \
  CUPILOT_HOST_DEVICE float atomicExch##suffix(float* address, float value) {           \
    float old_value;                                                                    \
    __atomic_exchange(address, &value, &old_value, CUPILOT_HOST_RELAXED);                   \
    return old_value;                                                                   \
  }                                                                                     \
  CUPILOT_HOST_DEVICE unsigned short atomicCAS##suffix(                                 \
      unsigned short* address, unsigned short compare, unsigned short value) {          \
    __atomic_compare_exchange_n(address, &compare, value, false, CUPILOT_HOST_RELAXED, \
                                CUPILOT_HOST_RELAXED_LOAD);                                      \
    return compare;                                                                     \
  }                                                                                     \
  CUPILOT_HOST_DEVICE unsigned int atomicInc##suffix(unsigned int* address,             \
                                                     unsigned int limit) {              \
    return cupilot_host::update(address,                                                \
                                cupilot_host::increment_until<unsigned int>{limit});    \
  }                                                                                     \
  CUPILOT_HOST_DEVICE unsigned int atomicDec##suffix(unsigned int* address,             \
                                                     unsigned int limit) {              \
    return cupilot_host::update(address,                                                \
                                cupilot_host::decrement_until<unsigned int>{limit});    \
  }

CUPILOT_HOST_ATOMIC_SCOPE()
CUPILOT_HOST_ATOMIC_SCOPE(_block)
CUPILOT_HOST_ATOMIC_SCOPE(_system)

#undef CUPILOT_HOST_ATOMIC_SCOPE
#undef CUPILOT_HOST_ATOMIC_FLOAT
#undef CUPILOT_HOST_ATOMIC_INTEGER

#endif
