/* What the text that cupilot-nvcc lowers a kernel to is made of: the executing thread's place, and the
 * loops that run a block. Everything here is inlined into the lowered text, so that the compiler sees one
 * loop over threadIdx.x with the kernel's body in it and can vectorise it. C++11. */
#ifndef CUPILOT_HOST_LOWERED_H_
#define CUPILOT_HOST_LOWERED_H_

#include "cupilot_host_abi.h"
#include "vector_types.h"

namespace cupilot_host {

/* The executing thread: what threadIdx and its relatives become in a kernel's body. */
struct thread {
  uint3 threadIdx;
  uint3 blockIdx;
  dim3 blockDim;
  dim3 gridDim;
  void* dynamic_shared;
};

}  // namespace cupilot_host

extern "C" {
/* The same for device functions, which find it by their operating-system thread. */
const cupilot_host::thread* cupilot_host_current(void);
void cupilot_host_set_current(const cupilot_host::thread* thread);

/* Runs run(context, t) for every thread t of the block, each on a stack of its own, so that it can wait
 * for the others. Returns 0, or an error number if a barrier was not reached by all. */
int cupilot_host_run_threads(const struct cupilot_host_block* block,
                             void (*run)(void* context, const cupilot_host::thread* thread),
                             void* context);

/* Waits for all threads of the block; combines their predicates: operation 0 counts those that are not
 * zero, 1 is "all", 2 is "any". */
int cupilot_host_barrier(int predicate, int operation);
/* Waits for the lanes of `mask`; `all` (32 values of `bytes` each, at most 16) gets the value of each
 * lane of the mask. Returns the calling lane's number. */
unsigned int cupilot_host_exchange(unsigned int mask, const void* value, unsigned int bytes, void* all);
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

inline thread first_thread(const cupilot_host_block* block) {
  thread t;
  t.threadIdx.x = t.threadIdx.y = t.threadIdx.z = 0;
  t.blockIdx.x = block->index.x;
  t.blockIdx.y = block->index.y;
  t.blockIdx.z = block->index.z;
  t.blockDim = dim3(block->block.x, block->block.y, block->block.z);
  t.gridDim = dim3(block->grid.x, block->grid.y, block->grid.z);
  t.dynamic_shared = block->dynamic_shared;
  return t;
}

/* Threads that never wait for each other, as plain loops. The arguments are parameters by value here, so
 * that stores of the body cannot change them. */
template <bool NeedsCurrent, class Body, class... P>
__attribute__((always_inline)) inline int loop(const cupilot_host_block* block, Body body, P... p) {
  thread base = first_thread(block);
  const unsigned int width = block->block.x, height = block->block.y, depth = block->block.z;
  for (unsigned int z = 0; z < depth; ++z) {
    for (unsigned int y = 0; y < height; ++y) {
      for (unsigned int x = 0; x < width; ++x) {
        thread t = base;
        t.threadIdx.x = x;
        t.threadIdx.y = y;
        t.threadIdx.z = z;
        if (NeedsCurrent) cupilot_host_set_current(&t);
        body(t, p...);
      }
    }
  }
  return 0;
}

template <bool NeedsCurrent, class Body, class... P, unsigned int... I>
__attribute__((always_inline)) inline int plain(const cupilot_host_block* block, void** arguments,
                                                void (*)(P...), Body body, indices<I...>) {
  (void)arguments;
  return loop<NeedsCurrent, Body, P...>(
      block, body, *static_cast<typename without_reference<P>::type*>(arguments[I])...);
}
template <bool NeedsCurrent, class Body, class... P>
__attribute__((always_inline)) inline int run_plain(const cupilot_host_block* block, void** arguments,
                                                    void (*signature)(P...), Body body) {
  return plain<NeedsCurrent>(block, arguments, signature, body,
                             typename make_indices<sizeof...(P)>::type());
}

/* Threads that wait for each other. */
template <class Body, class... P>
struct waiting {
  Body body;
  void** arguments;
  template <unsigned int... I>
  __attribute__((always_inline)) void call(const thread& t, indices<I...>) {
    body(t, *static_cast<typename without_reference<P>::type*>(arguments[I])...);
  }
  static void run(void* context, const thread* t) {
    static_cast<waiting*>(context)->call(*t, typename make_indices<sizeof...(P)>::type());
  }
};
template <class Body, class... P>
inline int run_waiting(const cupilot_host_block* block, void** arguments, void (*)(P...), Body body) {
  waiting<Body, P...> all = {body, arguments};
  return cupilot_host_run_threads(block, &waiting<Body, P...>::run, &all);
}

}  // namespace cupilot_host

#endif
