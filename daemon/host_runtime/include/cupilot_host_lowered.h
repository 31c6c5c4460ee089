/* What the text that cupilot-nvcc lowers a kernel to is made of: the executing thread's place, and the
 * loops that run blocks. Everything here is inlined into the lowered text, so that the compiler sees one
 * loop over threads with the kernel's body in it and can vectorise it. C++11. */
#ifndef CUPILOT_HOST_LOWERED_H_
#define CUPILOT_HOST_LOWERED_H_

#include "cupilot_host_abi.h"
#include "vector_types.h"
#if defined(__GXX_RTTI)
#include <typeinfo>
#endif

namespace cupilot_host {

/* The mangled name of a type, null where the program has no such information. */
template <class type>
inline const char* name_of() {
#if defined(__GXX_RTTI)
  return typeid(type).name();
#else
  return 0;
#endif
}

/* The executing thread: what threadIdx and its relatives become in a kernel's body. */
struct thread {
  uint3 threadIdx;
  uint3 blockIdx;
  dim3 blockDim;
  dim3 gridDim;
  void* dynamic_shared;
  /* blockIdx.x * (block's width as the kernel writes it) + threadIdx.x */
  long index_x;
  /* The conditions that the kernel begins with are known to hold. */
  bool inside;
};

}  // namespace cupilot_host

extern "C" {
/* The thread that runs now, for functions that cannot be given it as a parameter. */
const cupilot_host::thread* cupilot_host_current(void);
/* The same; null where it is not known, outside of kernels too. */
const cupilot_host::thread* cupilot_host_known(void);
void cupilot_host_set_current(const cupilot_host::thread* thread);

/* Runs run(context, t) for every thread t of each block of the part, each on a stack of its own, so that
 * it can wait for the others. Returns 0, or an error number if a barrier was not reached by all. */
int cupilot_host_run_threads(const struct cupilot_host_part* part,
                             void (*run)(void* context, const cupilot_host::thread* thread),
                             void* context);

/* Waits for all threads of the block; combines their predicates: operation 0 counts those that are not
 * zero, 1 is "all", 2 is "any". */
int cupilot_host_barrier(int predicate, int operation);
/* Waits for all threads of a cooperative launch, and whether the launch is one. */
void cupilot_host_grid_barrier(void);
int cupilot_host_grid_is_valid(void);
/* End the kernel: an assertion of a thread does not hold (outside of kernels it is the C library's), or
 * it gives up. */
void cupilot_host_fail_assertion(const cupilot_host::thread* thread, const char* expression,
                                 const char* file, unsigned int line, const char* function)
    __attribute__((noreturn));
void cupilot_host_trap(void) __attribute__((noreturn));
/* The operations below wait for the lanes of `mask` that have not ended.
 * Ballot: the lanes whose predicate is not zero. */
unsigned int cupilot_host_ballot(unsigned int mask, int predicate);
/* The lanes that ask at the same place of the text: waits until no other thread can go on. */
unsigned int cupilot_host_active_lanes(void);
/* The value of another lane: kind 0 lane `operand`, 1 `operand` below, 2 `operand` above, 3 the lane whose
 * number differs in the bits of `operand`; all within segments of `width` lanes. The own value where
 * there is no such lane. */
unsigned long long cupilot_host_shuffle(unsigned int mask, unsigned long long value, int kind,
                                        int operand, int width);
/* All values: `all` (32 of `bytes` each, at most 16) gets the value of each lane of the mask. Returns the
 * lanes that took part. */
unsigned int cupilot_host_exchange(unsigned int mask, const void* value, unsigned int bytes,
                                   void* all);
}

namespace cupilot_host {

template <unsigned int... I>
struct indices {};
template <unsigned int N, unsigned int... I>
struct make_indices : make_indices<N - 1, N - 1, I...> {};
template <unsigned int... I>
struct make_indices<0, I...> {
  typedef indices<I...> type;
};

template <class T>
struct without_reference {
  typedef T type;
};
template <class T>
struct without_reference<T&> {
  typedef T type;
};

/* What __assert_fail becomes in device code. */
struct assertion {
  const thread* at;
  __attribute__((noreturn)) void fail(const char* expression, const char* file, unsigned int line,
                                      const char* function) const {
    cupilot_host_fail_assertion(at, expression, file, line, function);
  }
};

inline thread first_thread(const cupilot_host_part* part) {
  thread t;
  t.threadIdx.x = t.threadIdx.y = t.threadIdx.z = 0;
  t.blockIdx.x = (unsigned int)(part->first % part->grid.x);
  t.blockIdx.y = (unsigned int)(part->first / part->grid.x % part->grid.y);
  t.blockIdx.z = (unsigned int)(part->first / part->grid.x / part->grid.y);
  t.blockDim = dim3(part->block.x, part->block.y, part->block.z);
  t.gridDim = dim3(part->grid.x, part->grid.y, part->grid.z);
  t.dynamic_shared = part->dynamic_shared;
  t.index_x = 0;
  t.inside = false;
  return t;
}
inline void next_block(thread& t) {
  if (++t.blockIdx.x < t.gridDim.x) return;
  t.blockIdx.x = 0;
  if (++t.blockIdx.y < t.gridDim.y) return;
  t.blockIdx.y = 0;
  ++t.blockIdx.z;
}

/* How a kernel's threads are run: facts that the lowering found in its text. `Width` is the factor of
 * blockIdx.x in index_x, block_width for blockDim.x. `Flat`: x is used in index_x only, so that the threads of
 * neighbouring blocks are one loop. `Current`: functions that ask for the current thread are reached. */
constexpr unsigned int block_width = ~0u;
template <unsigned int WidthValue, bool FlatValue, bool CurrentValue>
struct shape {
  static constexpr unsigned int Width = WidthValue;
  static constexpr bool Flat = FlatValue;
  static constexpr bool Current = CurrentValue;
};

/* For a kernel that does not begin with conditions on its place. */
struct everywhere {
  template <class... P>
  __attribute__((always_inline)) int operator()(const thread&, P...) const {
    return 3;
  }
};

template <class Holds>
struct is_everywhere {
  static constexpr bool value = false;
};
template <>
struct is_everywhere<everywhere> {
  static constexpr bool value = true;
};

/* The threads of a row, [begin, end), of which index_x is `offset` + x. `holds` gives two bits: 1, true
 * up to some x and false from there on; 2, false up to some x. Where one is false the body does nothing. */
template <class Shape, class Offset, class Body, class Holds, class... P>
__attribute__((always_inline)) inline void row(const thread& base, int begin, int end, Offset offset,
                                               const Body& body, const Holds& holds, P... p) {
  thread at = base;
  const auto test = [&](int x) __attribute__((always_inline)) {
    at.threadIdx.x = (unsigned int)x;
    at.index_x = offset + x;
    return holds(at, p...);
  };
  if ((test(begin) & 2) == 0) {
    int low = begin, high = end;  /* false at low, true (or the end) at high */
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      if ((test(middle) & 2) != 0) {
        high = middle;
      } else {
        low = middle;
      }
    }
    begin = high;
  }
  if (begin < end && (test(end - 1) & 1) == 0) {
    int low = begin - 1, high = end - 1;  /* true (or before the row) at low, false at high */
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      if ((test(middle) & 1) != 0) {
        low = middle;
      } else {
        high = middle;
      }
    }
    end = high;
  }
  /* No thread of a kernel without barriers may depend on another's stores. */
#pragma GCC ivdep
  for (int x = begin; x < end; ++x) {
    thread t = base;
    t.threadIdx.x = (unsigned int)x;
    t.index_x = offset + x;
    t.inside = !is_everywhere<Holds>::value;
    if (Shape::Current) cupilot_host_set_current(&t);
    body(t, p...);
  }
}

/* Block by block. The arguments are parameters by value here, so that stores of the body cannot change
 * them. */
template <class Shape, class Offset, class Body, class Holds, class... P>
inline void blocks(const cupilot_host_part* part, const Body& body, const Holds& holds, P... p) {
  thread base = first_thread(part);
  const unsigned int width = Shape::Width != block_width ? Shape::Width : part->block.x;
  for (unsigned long i = 0; i < part->count; ++i, next_block(base)) {
    for (unsigned int z = part->thread_begin.z; z < part->thread_end.z; ++z) {
      base.threadIdx.z = z;
      for (unsigned int y = part->thread_begin.y; y < part->thread_end.y; ++y) {
        base.threadIdx.y = y;
        row<Shape, Offset, Body, Holds, P...>(base, (int)part->thread_begin.x, (int)part->thread_end.x,
                                              (Offset)base.blockIdx.x * (Offset)width, body, holds,
                                              p...);
      }
    }
  }
}

/* Neighbouring blocks as one: their threads of one row are one loop. A part of a block comes alone. */
template <class Shape, class Body, class Holds, class... P>
inline void flat(const cupilot_host_part* part, const Body& body, const Holds& holds, P... p) {
  thread base = first_thread(part);
  const unsigned int width = part->block.x;
  for (unsigned long left = part->count; left > 0;) {
    const unsigned int first = base.blockIdx.x;
    const unsigned long rest = part->grid.x - first;
    const unsigned int run = (unsigned int)(left < rest ? left : rest);
    const int begin = (int)(first * width + part->thread_begin.x);
    const int end = (int)((first + run - 1) * width + part->thread_end.x);
    for (unsigned int z = part->thread_begin.z; z < part->thread_end.z; ++z) {
      base.threadIdx.z = z;
      for (unsigned int y = part->thread_begin.y; y < part->thread_end.y; ++y) {
        base.threadIdx.y = y;
        row<Shape, int, Body, Holds, P...>(base, begin, end, 0,
                                           body, holds, p...);
      }
    }
    left -= run;
    base.blockIdx.x = first + run - 1;
    next_block(base);
  }
}

/* Indices of x that fit an int have no wrap in them, which is what lets the compiler see consecutive
 * addresses; the general form is for launches beyond that, where conditions are tested by each thread. */
template <class Shape, class Body, class Holds, class... P>
inline int loop(const cupilot_host_part* part, const Body& body, const Holds& holds, P... p) {
  const bool own = Shape::Width != block_width;
  const unsigned long width = own && Shape::Width > part->block.x ? Shape::Width : part->block.x;
  const bool small = part->grid.x * width <= 2147483647ul;
  if (Shape::Flat) {
    if (small && (!own || Shape::Width == part->block.x)) {
      flat<Shape, Body, Holds, P...>(part, body, holds, p...);
    } else {
      blocks<Shape, long, Body, everywhere, P...>(part, body, everywhere(), p...);
    }
  } else if (small) {
    blocks<Shape, int, Body, Holds, P...>(part, body, holds, p...);
  } else {
    blocks<Shape, long, Body, everywhere, P...>(part, body, everywhere(), p...);
  }
  return 0;
}

/* Threads that never wait for each other, as plain loops. */
template <class Shape, class Body, class Holds, class... P, unsigned int... I>
inline int plain(const cupilot_host_part* part, void** arguments, void (*)(P...), const Body& body,
                 const Holds& holds, indices<I...>) {
  (void)arguments;
  return loop<Shape, Body, Holds, P...>(
      part, body, holds, *static_cast<typename without_reference<P>::type*>(arguments[I])...);
}
template <class Shape, class Body, class Holds, class... P>
inline int run_plain(const cupilot_host_part* part, void** arguments, void (*signature)(P...),
                     const Body& body, const Holds& holds) {
  return plain<Shape>(part, arguments, signature, body, holds,
                      typename make_indices<sizeof...(P)>::type());
}

/* Threads that wait for each other. */
template <class Body, class... P>
struct waiting {
  const Body& body;
  void** arguments;
  unsigned int width;
  template <unsigned int... I>
  __attribute__((always_inline)) void call(const thread& t, indices<I...>) {
    body(t, *static_cast<typename without_reference<P>::type*>(arguments[I])...);
  }
  static void run(void* context, const thread* at) {
    waiting* const self = static_cast<waiting*>(context);
    thread t = *at;
    t.index_x = (long)t.blockIdx.x * (self->width != block_width ? self->width : t.blockDim.x) + t.threadIdx.x;
    self->call(t, typename make_indices<sizeof...(P)>::type());
  }
};
template <class Shape, class Body, class... P>
inline int run_waiting(const cupilot_host_part* part, void** arguments, void (*)(P...),
                       const Body& body) {
  waiting<Body, P...> all = {body, arguments, Shape::Width};
  return cupilot_host_run_threads(part, &waiting<Body, P...>::run, &all);
}

}  // namespace cupilot_host

#endif
