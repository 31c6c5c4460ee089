// The functions that compilers call before each access of what was compiled with -fsanitize=thread,
// for programs and candidates that are watched (cupilot_host_watch.h): instead of the thread
// sanitizer's own library, which knows neither blocks nor warps. Linked into what was compiled with
// `nvcc --cupilot-watch`, and visible there only.
//
// undefined_calls.cc has those of the undefined-behaviour sanitizer.
//
// Reads and writes are told and then made by the caller; atomic operations are told and made here.
#include <cstddef>
#include <cstdint>

#include "cupilot_host_watch.h"

// NOLINTBEGIN(bugprone-reserved-identifier,bugprone-macro-parentheses): the compilers' own names.

namespace {

using Size = unsigned long;

constexpr unsigned int kRead = 0;
constexpr unsigned int kWrite = cupilot_host_watch_write;
constexpr unsigned int kVolatile = cupilot_host_watch_volatile;

inline void See(const volatile void* address, Size bytes, unsigned int kind) {
  cupilot_host_watch_access(const_cast<const void*>(address), bytes, kind);
}

inline unsigned int AtomicWrite(int order) {
  const bool releases =
      order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  constexpr unsigned int kRelease = cupilot_host_watch_release;
  return cupilot_host_watch_atomic | kWrite | (releases ? kRelease : 0u);
}

// As the C library's, which cannot be called by their names from here.
void Copy(void* to, const void* from, Size bytes) {
  auto* t = static_cast<volatile unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  if (reinterpret_cast<std::uintptr_t>(to) <= reinterpret_cast<std::uintptr_t>(from)) {
    for (Size i = 0; i < bytes; ++i) t[i] = f[i];
  } else {
    for (Size i = bytes; i > 0; --i) t[i - 1] = f[i - 1];
  }
}

void* WatchedCopy(void* to, const void* from, Size bytes) {
  if (bytes == 0) return to;
  See(from, bytes, kRead);
  See(to, bytes, kWrite);
  Copy(to, from, bytes);
  return to;
}

void* WatchedSet(void* to, int value, Size bytes) {
  if (bytes == 0) return to;
  See(to, bytes, kWrite);
  auto* t = static_cast<volatile unsigned char*>(to);
  for (Size i = 0; i < bytes; ++i) t[i] = static_cast<unsigned char>(value);
  return to;
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void** address) { See(static_cast<void*>(address), sizeof(void*), kRead); }
void __tsan_vptr_update(void** address, void*) {
  See(static_cast<void*>(address), sizeof(void*), kWrite);
}
void __tsan_read_range(void* address, Size bytes) {
  if (bytes > 0) See(address, bytes, kRead);
}
void __tsan_write_range(void* address, Size bytes) {
  if (bytes > 0) See(address, bytes, kWrite);
}

#define CUPILOT_ACCESSES(bytes)                                                               \
  void __tsan_read##bytes(void* a) { See(a, bytes, kRead); }                                  \
  void __tsan_write##bytes(void* a) { See(a, bytes, kWrite); }                                \
  void __tsan_unaligned_read##bytes(void* a) { See(a, bytes, kRead); }                        \
  void __tsan_unaligned_write##bytes(void* a) { See(a, bytes, kWrite); }                      \
  void __tsan_volatile_read##bytes(void* a) { See(a, bytes, kRead | kVolatile); }             \
  void __tsan_volatile_write##bytes(void* a) { See(a, bytes, kWrite | kVolatile); }           \
  void __tsan_unaligned_volatile_read##bytes(void* a) { See(a, bytes, kRead | kVolatile); }   \
  void __tsan_unaligned_volatile_write##bytes(void* a) { See(a, bytes, kWrite | kVolatile); } \
  void __tsan_read_write##bytes(void* a) {                                                    \
    See(a, bytes, kRead);                                                                     \
    See(a, bytes, kWrite);                                                                    \
  }                                                                                           \
  void __tsan_unaligned_read_write##bytes(void* a) { __tsan_read_write##bytes(a); }
CUPILOT_ACCESSES(1)
CUPILOT_ACCESSES(2)
CUPILOT_ACCESSES(4)
CUPILOT_ACCESSES(8)
CUPILOT_ACCESSES(16)
#undef CUPILOT_ACCESSES

#define CUPILOT_CHANGE(bits, T, name)                                 \
  T __tsan_atomic##bits##_##name(volatile T* a, T value, int order) { \
    See(a, sizeof(T), AtomicWrite(order));                            \
    return __atomic_##name(a, value, __ATOMIC_SEQ_CST);               \
  }
#define CUPILOT_ATOMICS(bits, T)                                                                  \
  T __tsan_atomic##bits##_load(const volatile T* a, int) {                                        \
    See(a, sizeof(T), cupilot_host_watch_atomic);                                                 \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                               \
  void __tsan_atomic##bits##_store(volatile T* a, T value, int order) {                           \
    See(a, sizeof(T), AtomicWrite(order));                                                        \
    __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  T __tsan_atomic##bits##_exchange(volatile T* a, T value, int order) {                           \
    See(a, sizeof(T), AtomicWrite(order));                                                        \
    return __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST);                                       \
  }                                                                                               \
  CUPILOT_CHANGE(bits, T, fetch_add)                                                              \
  CUPILOT_CHANGE(bits, T, fetch_sub)                                                              \
  CUPILOT_CHANGE(bits, T, fetch_and)                                                              \
  CUPILOT_CHANGE(bits, T, fetch_or)                                                               \
  CUPILOT_CHANGE(bits, T, fetch_xor)                                                              \
  CUPILOT_CHANGE(bits, T, fetch_nand)                                                             \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* a, T* expected, T value,          \
                                                    int order, int) {                             \
    See(a, sizeof(T), AtomicWrite(order));                                                        \
    return __atomic_compare_exchange_n(a, expected, value, false, __ATOMIC_SEQ_CST,               \
                                       __ATOMIC_SEQ_CST);                                         \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* a, T* expected, T value, int order, \
                                                  int failed) {                                   \
    return __tsan_atomic##bits##_compare_exchange_strong(a, expected, value, order, failed);      \
  }                                                                                               \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* a, T expected, T value, int order,     \
                                               int failed) {                                      \
    __tsan_atomic##bits##_compare_exchange_strong(a, &expected, value, order, failed);            \
    return expected;                                                                              \
  }
CUPILOT_ATOMICS(8, std::uint8_t)
CUPILOT_ATOMICS(16, std::uint16_t)
CUPILOT_ATOMICS(32, std::uint32_t)
CUPILOT_ATOMICS(64, std::uint64_t)
#undef CUPILOT_ATOMICS
#undef CUPILOT_CHANGE

void __tsan_atomic_thread_fence(int) { cupilot_host_watch_fence(); }
void __tsan_atomic_signal_fence(int) {}

void* __tsan_memcpy(void* to, const void* from, Size bytes) { return WatchedCopy(to, from, bytes); }
void* __tsan_memmove(void* to, const void* from, Size bytes) {
  return WatchedCopy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, Size bytes) { return WatchedSet(to, value, bytes); }
// What compilers leave as calls.
void* memcpy(void* to, const void* from, Size bytes) { return WatchedCopy(to, from, bytes); }
void* memmove(void* to, const void* from, Size bytes) { return WatchedCopy(to, from, bytes); }
void* memset(void* to, int value, Size bytes) { return WatchedSet(to, value, bytes); }
}
// NOLINTEND(bugprone-reserved-identifier,bugprone-macro-parentheses)
