/* What lowered code and the host runtime agree on, in plain C types (C++11 and up on both sides).
 * cupilot-nvcc emits, for each translation unit, a static table of the kernels and device variables
 * that it defines; programs register it at start-up, candidates export it under the name
 * `cupilot_host_module`, so that a runner can look kernels up in the object that it loaded. */
#ifndef CUPILOT_HOST_ABI_H_
#define CUPILOT_HOST_ABI_H_

#define CUPILOT_HOST_ABI_VERSION 3

struct cupilot_host_dim3 {
  unsigned int x, y, z;
};

/* A part of a launch: `count` blocks from number `first` on; blocks are numbered with x fastest.
 * `dynamic_shared` is 16-byte (or more) aligned and dynamic_shared_bytes long; one block at a time uses
 * it. Of kernels whose threads never wait only the threads [thread_begin, thread_end) of each block run, in
 * every dimension. */
struct cupilot_host_part {
  struct cupilot_host_dim3 grid, block;
  struct cupilot_host_dim3 thread_begin, thread_end;
  unsigned long first, count;
  void* dynamic_shared;
  unsigned long dynamic_shared_bytes;
};
/* Runs a part. `arguments` are addresses of the parameters, as in cudaLaunchKernel. Returns 0, or the
 * runtime's error number (719 launch failure: a barrier that not all threads reached). */
typedef int (*cupilot_host_entry)(const struct cupilot_host_part* part, void** arguments);

struct cupilot_host_kernel {
  const char* name;      /* qualified, without template arguments: "image::blur" */
  const char* signature; /* mangled; of an instantiation __PRETTY_FUNCTION__: "void f(T) [with T = int]" */
  const void* handle;    /* address of the stub: what cudaLaunchKernel takes */
  cupilot_host_entry entry;
  unsigned int max_threads_per_block; /* of __launch_bounds__, else 1024 */
  unsigned int static_shared_bytes;
  unsigned int synchronises; /* runs its threads as fibers */
  unsigned int parameter_count;
  const unsigned int* parameter_bytes;
};

struct cupilot_host_variable {
  const char* name; /* qualified */
  void* address;
  unsigned long bytes;
  unsigned int constant; /* 1: __constant__ */
};

struct cupilot_host_module {
  unsigned int abi_version;
  const char* architecture; /* "host-x86-64-v3" */
  const struct cupilot_host_kernel* kernels;
  unsigned int kernel_count;
  const struct cupilot_host_variable* variables;
  unsigned int variable_count;
};

#ifdef __cplusplus
extern "C" {
#endif
void cupilot_host_register(const struct cupilot_host_module* module);
#ifdef __cplusplus
}
#endif

#endif
