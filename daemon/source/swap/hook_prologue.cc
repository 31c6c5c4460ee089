#include "source/swap/hook_runtime.h"

namespace cupilot::source {

std::string HookCalls(const std::string& hook) {
  return R"hook(#include <cuda_runtime.h>
#undef cudaLaunchKernel
extern "C" cudaError_t )hook" +
         hook + R"hook(_call(const void*, dim3, dim3, void**, size_t, cudaStream_t);
template <class type>
static inline cudaError_t )hook" +
         hook +
         R"hook(_call(type* function, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                                  cudaStream_t stream = 0) {
  return )hook" +
         hook + R"hook(_call((const void*)function, grid, block, arguments, shared, stream);
}
#define cudaLaunchKernel )hook" +
         hook + R"hook(_call
#if defined(CUPILOT_HOST_ABI_VERSION) || CUDART_VERSION >= 11080
extern "C" cudaError_t )hook" +
         hook + R"hook(_call_ex(const cudaLaunchConfig_t*, const void*, void**);
namespace cupilot_calls {
// What is no function of the source (a cudaKernel_t) is the toolkit's to launch.
template <class function, class... given>
static inline cudaError_t extended(const cudaLaunchConfig_t* config, function kernel, given&&... values) {
  return ::cudaLaunchKernelEx(config, kernel, static_cast<given&&>(values)...);
}
template <class... parameters>
static inline cudaError_t converted(const cudaLaunchConfig_t* config, const void* kernel, parameters... values) {
  void* arguments[] = {(void*)&values..., (void*)0};
  return )hook" +
         hook + R"hook(_call_ex(config, kernel, arguments);
}
template <class... parameters, class... given>
static inline cudaError_t extended(const cudaLaunchConfig_t* config, void (*kernel)(parameters...),
                                   given&&... values) {
  return converted<parameters...>(config, (const void*)kernel, static_cast<given&&>(values)...);
}
}  // namespace cupilot_calls
template <class... given>
static inline cudaError_t )hook" +
         hook + R"hook(_extended(const cudaLaunchConfig_t* config, given&&... values) {
  return cupilot_calls::extended(config, static_cast<given&&>(values)...);
}
#undef cudaLaunchKernelExC
#define cudaLaunchKernelExC )hook" +
         hook + R"hook(_call_ex
#define cudaLaunchKernelEx )hook" +
         hook + R"hook(_extended
#endif
)hook";
}

std::string HookStubs(const std::string& hook) {
  return R"hook(#if !defined(CUPILOT_HOST_ABI_VERSION) && defined(__cudaLaunchKernel) && \
    (CUDART_VERSION < 13000 || defined(__NV_LEGACY_LAUNCH))
// The launcher functions, which the compiler writes behind this text, call the public function and give it their own
// address as a char*: of all functions of this name ours takes that best.
#undef cudaLaunchKernel
__attribute__((always_inline, unused)) static inline cudaError_t cudaLaunchKernel(char* function, dim3 grid, dim3 block,
    void** arguments, size_t shared, cudaStream_t stream) {
  return )hook" +
         hook +
         R"hook((function, grid, block, arguments, shared, stream);
}
#endif
)hook";
}

std::string HookPrologue() {
  return R"hook(
#if !defined(__CUDA_ARCH__)
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-declarations"
#if defined(CUPILOT_HOST_ABI_VERSION)
typedef const void* cupilot_handle;
#define CUPILOT_SWAP_REAL "__cudaLaunchKernel"
#elif CUDART_VERSION >= 13000 && !defined(__NV_LEGACY_LAUNCH)
typedef cudaKernel_t cupilot_handle;
#define CUPILOT_SWAP_REAL "__cudaLaunchKernel"
#else
#define CUPILOT_SWAP_BY_FUNCTION
typedef const void* cupilot_handle;
#define CUPILOT_SWAP_REAL "cudaLaunchKernel"
#endif
#if defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM) && !defined(CUPILOT_HOST_ABI_VERSION)
extern "C" cudaError_t cupilot_real(cupilot_handle, dim3, dim3, void**, size_t,
                                    cudaStream_t) __asm__(CUPILOT_SWAP_REAL "_ptsz");
#else
extern "C" cudaError_t cupilot_real(cupilot_handle, dim3, dim3, void**, size_t,
                                    cudaStream_t) __asm__(CUPILOT_SWAP_REAL);
#endif
#if defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM) && !defined(CUPILOT_HOST_ABI_VERSION)
#define CUPILOT_SWAP_PUBLIC(name) #name "_ptsz"
#else
#define CUPILOT_SWAP_PUBLIC(name) #name
#endif
extern "C" cudaError_t cupilot_real_call(const void*, dim3, dim3, void**, size_t, cudaStream_t)
    __asm__("cudaLaunch" CUPILOT_SWAP_PUBLIC(Kernel));
#if defined(CUPILOT_HOST_ABI_VERSION) || CUDART_VERSION >= 11080
#define CUPILOT_SWAP_EX
extern "C" cudaError_t cupilot_real_call_ex(const cudaLaunchConfig_t*, const void*, void**)
    __asm__("cudaLaunch" CUPILOT_SWAP_PUBLIC(KernelExC));
#endif
#undef CUPILOT_SWAP_PUBLIC
#undef CUPILOT_SWAP_REAL

namespace {
namespace cupilot_swap {

enum { device_limit = 16 };

struct launch {
  const dim3* grid;  // the program's: a copy would be read before it is written
  const dim3* block;
  void** arguments;
  size_t shared;
  cudaStream_t stream;
  int device;
};
struct geometry {
  long long grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
};
struct device_facts {
  int sm_count, max_shared_bytes, max_threads_per_sm, l2_bytes, warp_size;
};
struct function_facts {
  int max_threads;
  int static_bytes;
  long long dynamic_bytes;
};
struct kernel_row {
  const char* name;
  int first_variant, variant_count;
};
struct variant_row {
  int ptx, binary, kind;  // kind: 0 for plain code (sm_90), 'a' and 'f' for what those suffixes allow
  const char* architecture;
  const char* const* devices;
  int first_entry, entry_count;
};

template <class type>
inline type read(const launch& l, int index) {
  return *static_cast<const type*>(l.arguments[index]);
}
inline unsigned long long address(const launch& l, int index) {
  return (unsigned long long)read<const void*>(l, index);
}
// A number that lies in a structure; where, is known from its text.
template <class type>
inline type member(const launch& l, int index, unsigned offset) {
  type value;
  __builtin_memcpy(&value, static_cast<const char*>(l.arguments[index]) + offset, sizeof value);
  return value;
}
// A member that an expression names, of a structure whose text does not tell where its members lie;
// floating ones are not integers.
template <class type>
inline long long integer(type value) {
  static_assert(type(3) / type(2) == type(1), "an expression reads a floating member");
  return (long long)value;
}
)hook";
}

std::string HookTypes() {
  return R"hook(namespace {
namespace cupilot_types {
// Whether an entry's parameters take the bytes that it is given.
template <class type> struct kind { enum { value = 0 }; };
template <class type> struct kind<type*> { enum { value = 1 }; };
template <> struct kind<float> { enum { value = 2 }; };
template <> struct kind<double> { enum { value = 3 }; };
template <class type> struct plain { typedef type is; };
template <class type> struct plain<const type> { typedef type is; };
template <class type> struct plain<type* __restrict__> { typedef type* is; };
template <class type> struct plain<type* const __restrict__> { typedef type* is; };
template <class to, class from>
struct takes {
  enum { value = sizeof(to) == sizeof(from) && alignof(to) == alignof(from) &&
                 int(kind<typename plain<to>::is>::value) ==
                     int(kind<typename plain<from>::is>::value) };
};
template <bool... all> struct flags {};
template <class left, class right> struct same { enum { value = 0 }; };
template <class type> struct same<type, type> { enum { value = 1 }; };
template <class... types> struct list {};
template <class entry, class given> struct accepts;
template <class... parameters, class... given>
struct accepts<void (*)(parameters...), list<given...> > {
  enum { value = same<flags<true, bool(takes<parameters, given>::value)...>,
                      flags<bool(takes<parameters, given>::value)..., true> >::value };
};
}  // namespace cupilot_types
}  // namespace
)hook";
}

std::string HookQuietBegin() {
  return R"hook(
#if defined(__CUDACC__) && !defined(CUPILOT_HOST_ABI_VERSION)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177
#endif
)hook";
}

std::string HookQuietEnd() {
  return R"hook(
#if defined(__CUDACC__) && !defined(CUPILOT_HOST_ABI_VERSION)
#pragma nv_diagnostic pop
#endif
)hook";
}

std::string HookProbe() {
  return R"hook(
// Tells at run time which of several images of one architecture was loaded.
#if !defined(CUPILOT_HOST_ABI_VERSION)
namespace {
namespace cupilot_image {
enum { plain = 32, family = 64, specific = 96 };
#if defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
__global__ void __launch_bounds__(specific) probe() {}
#elif defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
__global__ void __launch_bounds__(family) probe() {}
#else
__global__ void __launch_bounds__(plain) probe() {}
#endif
}  // namespace cupilot_image
}  // namespace
#endif
)hook";
}

}  // namespace cupilot::source
