/* The qualifiers of CUDA C++ as attributes that clang's CUDA mode understands; cupilot-nvcc removes
 * them when it lowers the text. */
#ifndef CUPILOT_HOST_CRT_HOST_DEFINES_H_
#define CUPILOT_HOST_CRT_HOST_DEFINES_H_

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
/* What the host device cannot do: cupilot-nvcc says so where it finds this word. */
#define __cluster_dims__(...) __attribute__((cupilot_unsupported("__cluster_dims__")))
#define __block_size__(...) __attribute__((cupilot_unsupported("__block_size__")))
#define __maxnreg__(...)
#define __nv_pure__ __attribute__((pure))
#define __no_return__ __attribute__((noreturn))
#define __thread__ __thread
#define __restrict __restrict__
#define __device_builtin__
#define __cudart_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __location__(a) __attribute__((a))
#define __specialization_static
#define __tile_builtin__
/* A promise to the device's compiler, which g++ does not know. */
#if !defined(__clang__)
#define __builtin_assume(condition) ((void)0)
#endif
/* __noinline__ is no macro: the C++ library writes __attribute__((__noinline__)). The lowering
 * replaces the bare word. */
#if defined(CUPILOT_HOST_WATCH)
/* Accesses are told as to the thread sanitizer, but our own library knows fences and orders. */
#elif defined(__SANITIZE_THREAD__)
#define CUPILOT_HOST_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUPILOT_HOST_THREAD_SANITIZER
#endif
#endif
#ifndef CUDARTAPI
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif

#endif
