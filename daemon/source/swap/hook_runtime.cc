#include "source/swap/hook_runtime.h"

namespace cupilot::source {

std::string HookMachinery() {
  return std::string(R"hook(
// Between two launches the runtime and the driver use the caches and the branch predictor: what each
// launch reads lies together, and a variant's way is straight on.
#define CUPILOT_LIKELY(condition) __builtin_expect(!!(condition), 1)
typedef int (*context_device)(int*);
typedef int (*capture_status)(cudaStream_t, cudaStreamCaptureStatus*);
typedef int (*context_number)(void*, unsigned long long*);
typedef int (*function_of_kernel)(cupilot_handle*, cupilot_handle);
typedef int (*driver_launch)(cupilot_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             cudaStream_t, void**, void**);
struct hot_words {
  cupilot_handle handles[function_count];
  // What `prepared` says of device 0, as soon as nothing else is to be asked: there is one device, nothing is
  // disabled, no statistics are wanted.
  unsigned bits[kernel_count];
  int handles_known, mode, device_count;
  context_device ask_driver;
  capture_status ask_capture;
  driver_launch by_driver;  // null: the runtime launches
  context_number ask_context;
  unsigned long long context;                 // of `in_context`
  cupilot_handle in_context[function_count];  // CUfunction; null: not known; a kernel: it was refused
};
struct device_words {
  unsigned prepared[kernel_count];
  function_facts facts[function_count];
  device_facts device;
};
__attribute__((aligned(64))) hot_words hot;
__attribute__((aligned(64))) device_words on[device_limit];
unsigned long long hits[kernel_count], misses[kernel_count], captures[kernel_count];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
)hook") + HookModes() +
         R"hook(
// The program's own error is neither hidden nor cleared: while one waits for it, we ask nothing that
// could fail and launch nothing but the original.
__attribute__((always_inline)) inline bool error_pending() {
  return cudaPeekAtLastError() != cudaSuccess;
}

// After a failed call of ours; the last error was success before it.
bool cleared() {
  cudaGetLastError();
  return false;
}

// While this lives, our questions neither fail nor end a capture that this thread has begun, on whatever
// stream: none of them touches a stream.
#if defined(CUPILOT_HOST_ABI_VERSION)
struct relaxed {
  relaxed() {}
  ~relaxed() {}
};
#else
struct relaxed {
  cudaStreamCaptureMode mode;
  relaxed() : mode(cudaStreamCaptureModeRelaxed) { exchange(); }
  ~relaxed() { exchange(); }
  void exchange() {
    if (cudaThreadExchangeStreamCaptureMode(&mode) != cudaSuccess) cleared();
  }
};
#endif

// Null: an original that was not registered yet (nameless_kernels.h).
#if defined(CUPILOT_SWAP_NAMELESS)
#undef CUPILOT_SWAP_NAMELESS
inline const void* function_at(int index) { return __atomic_load_n(&functions[index], __ATOMIC_ACQUIRE); }
#else
inline const void* function_at(int index) { return functions[index]; }
inline bool has_our_arguments(int) { return true; }
#endif

#if !defined(CUPILOT_HOST_ABI_VERSION) && !defined(CUPILOT_SWAP_BY_FUNCTION)
__attribute__((noinline)) bool resolve() {
  const relaxed capture;
  for (int i = function_count - 1; i >= 0; --i) {  // an original is found when its entries are known
    cupilot_handle handle = 0;
    if (function_at(i) == 0) continue;
    if (cudaGetKernel(&handle, functions[i]) != cudaSuccess) return cleared();
    __atomic_store_n(&hot.handles[i], handle, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&hot.handles_known, 1, __ATOMIC_RELEASE);
  return true;
}
#else
__attribute__((noinline)) bool resolve() {
  for (int i = function_count - 1; i >= 0; --i) {
    const void* function = function_at(i);
    if (function != 0) __atomic_store_n(&hot.handles[i], (cupilot_handle)function, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&hot.handles_known, 1, __ATOMIC_RELEASE);
  return true;
}
#endif

)hook" + HookDriverEntries() +
         R"hook(// The current device. With one device there is nothing to ask; with several it is the driver that is asked.
// Negative: unknown.
__attribute__((noinline)) int slow_device() {
  int device = 0, count = 0;
  if (error_pending()) return -1;
  const relaxed capture;
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceCount(&count) != cudaSuccess) {
    cleared();
    return -1;
  }
  if (count > 1 && __atomic_load_n(&hot.ask_driver, __ATOMIC_RELAXED) == 0) {
    __atomic_store_n(&hot.ask_driver, (context_device)driver_entry("cuCtxGetDevice"), __ATOMIC_RELEASE);
  }
  __atomic_store_n(&hot.device_count, count, __ATOMIC_RELEASE);
  return device;
}

// A launch that a stream captures becomes a node of a graph. Whatever else is in the program, also by way of the driver,
// may tell such a node by its function, read it, and set it again with other arguments or another grid: none of which we
// see, and all of it with the original in mind.
__attribute__((noinline)) bool captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) return !cleared();
  return status != cudaStreamCaptureStatusNone;
}

// The same, before each launch of a variant: the legacy stream is never captured, and of the others the driver knows
// sooner, once the runtime has made the thread's context. CUPILOT_TUNED_GRAPHS: the project says that its nodes stay as
// they were captured, so that they may be variants.
__attribute__((always_inline)) inline bool into_graph(cudaStream_t stream) {
#if defined(CUPILOT_TUNED_GRAPHS)
  return false;
#else
#if defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM) && !defined(CUPILOT_HOST_ABI_VERSION)
  if (stream == 0) stream = cudaStreamPerThread;
#endif
  if (CUPILOT_LIKELY(stream == 0 || stream == cudaStreamLegacy)) return false;
  const capture_status ask = __atomic_load_n(&hot.ask_capture, __ATOMIC_ACQUIRE);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (!CUPILOT_LIKELY(ask != 0 && ask(stream, &status) == 0)) return captured(stream);
  return status != cudaStreamCaptureStatusNone;
#endif
}

// A kernel is the same handle to runtime and driver (cudaKernel_t is CUkernel), and so is a stream. The driver's launch is
// all that the runtime's would do, in a thread whose context is there, and whatever becomes of it, the runtime's last
// error stays the program's: so nobody has to ask for one that waits, which costs more than the rest of the guard. Nodes
// of graphs are left to the runtime, which knows their functions then.
#if defined(CUPILOT_DRIVER_ENTRIES) && CUDART_VERSION >= 13000 && !defined(CUPILOT_SWAP_BY_FUNCTION) && \
    !defined(CUPILOT_TUNED_GRAPHS)
#define CUPILOT_BY_DRIVER
#endif

// May a variant be launched: no error of the program's would be hidden or cleared, and the launch is no node of a graph.
__attribute__((always_inline)) inline bool may_start(const launch& l) {
#if defined(CUPILOT_BY_DRIVER)
  if (!CUPILOT_LIKELY(__atomic_load_n(&hot.by_driver, __ATOMIC_ACQUIRE) != 0) && error_pending()) return false;
  return !into_graph(l.stream);
#else
  return !error_pending() && !into_graph(l.stream);
#endif
}

__attribute__((always_inline)) inline int current_device() {
  const int count = __atomic_load_n(&hot.device_count, __ATOMIC_ACQUIRE);
  if (count == 1) return 0;
  const context_device ask = __atomic_load_n(&hot.ask_driver, __ATOMIC_ACQUIRE);
  int device = -1;
  if (ask != 0 && ask(&device) == 0) return device;
  return slow_device();
}

__attribute__((always_inline)) inline int known(cupilot_handle handle) {
  for (int i = 0; i < kernel_count; ++i) {
    if (CUPILOT_LIKELY(__atomic_load_n(&hot.handles[i], __ATOMIC_ACQUIRE) == handle)) return i;
  }
  return -1;
}

__attribute__((noinline)) int find_first(cupilot_handle handle) {
  if (handle == 0 || error_pending() || !resolve()) return -1;
  return known(handle);
}

__attribute__((always_inline)) inline int find(cupilot_handle handle) {
  const int kernel = known(handle);
  if (kernel >= 0 || __atomic_load_n(&hot.handles_known, __ATOMIC_ACQUIRE) != 0) return kernel;
  return find_first(handle);
}

bool read_function(int function, int device, cudaFuncAttributes* attributes) {
  if (cudaFuncGetAttributes(attributes, functions[function]) != cudaSuccess) return cleared();
  function_facts& f = on[device].facts[function];
  f.max_threads = attributes->maxThreadsPerBlock;
  f.static_bytes = (int)attributes->sharedSizeBytes;
  __atomic_store_n(&f.dynamic_bytes, (long long)attributes->maxDynamicSharedSizeBytes,
                   __ATOMIC_RELAXED);
  return true;
}

bool read_device(int device) {
  device_facts& d = on[device].device;
  if (cudaDeviceGetAttribute(&d.sm_count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&d.max_shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
          cudaSuccess ||
      cudaDeviceGetAttribute(&d.max_threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor,
                             device) != cudaSuccess ||
      cudaDeviceGetAttribute(&d.l2_bytes, cudaDevAttrL2CacheSize, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&d.warp_size, cudaDevAttrWarpSize, device) != cudaSuccess) {
    return cleared();
  }
  return true;
}

// The loaded image, not the device, says which code an entry has: a program built for compute_80 runs
// that code on every later device.
bool image_matches(const variant_row& row, int kernel, int image_kind,
                   const cudaFuncAttributes& attributes) {
#if defined(CUPILOT_HOST_ABI_VERSION)
  const char* architecture = cupilot_host_architecture(functions[kernel]);
  return row.architecture != 0 && architecture != 0 && strcmp(architecture, row.architecture) == 0;
#else
  return row.ptx != 0 && attributes.ptxVersion == row.ptx && image_kind == row.kind &&
         (row.binary == 0 || attributes.binaryVersion == row.binary);
#endif
}

bool device_matches(const variant_row& row, int device) {
  if (row.devices == 0) return true;
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return cleared();
  for (const char* const* name = row.devices; *name != 0; ++name) {
    if (strcmp(*name, properties.name) == 0) return true;
  }
  return false;
}

// 'a' or 'f' if the loaded image is one of sm_90a or sm_100f, 0 if it is plain, -1 if that is unknown.
int kind_of_image() {
#if defined(CUPILOT_HOST_ABI_VERSION)
  return 0;
#else
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, (const void*)&cupilot_image::probe) != cudaSuccess) {
    cleared();
    return -1;
  }
  return attributes.maxThreadsPerBlock == cupilot_image::specific ? 'a'
         : attributes.maxThreadsPerBlock == cupilot_image::family ? 'f'
         : attributes.maxThreadsPerBlock == cupilot_image::plain  ? 0
                                                                  : -1;
#endif
}

// The blocks of clusters depend on each other in ways that a variant's geometry may change.
bool has_clusters(int kernel, const cudaFuncAttributes& attributes) {
#if defined(CUPILOT_HOST_ABI_VERSION)
  return false;
#elif CUDART_VERSION >= 12020
  return attributes.clusterDimMustBeSet != 0 || attributes.requiredClusterWidth != 0;
#elif CUDART_VERSION >= 11080
  // This runtime compiles them, but only the driver tells of them. Unknown: yes.
  if (attributes.ptxVersion < 90) return false;
  typedef int (*function_attribute)(int*, int, cudaFunction_t);
  const function_attribute ask = (function_attribute)driver_entry("cuFuncGetAttribute");
  cudaFunction_t function = 0;
  if (ask == 0) return true;
  if (cudaGetFuncBySymbol(&function, functions[kernel]) != cudaSuccess) return !cleared();
  enum { must_be_set = 10, required_width = 11 };  // CU_FUNC_ATTRIBUTE_...CLUSTER...
  int is_demanded = 0, width = 0;
  return ask(&is_demanded, must_be_set, function) != 0 || ask(&width, required_width, function) != 0 ||
         is_demanded != 0 || width != 0;
#else
  return false;
#endif
}

bool usable(const variant_row& row, int kernel, int device, int image_kind,
            const cudaFuncAttributes& original) {
  if (!image_matches(row, kernel, image_kind, original) || !device_matches(row, device)) return false;
  for (int i = 0; i < row.entry_count; ++i) {
    const int function = row.first_entry + i;
    cudaFuncAttributes attributes;
    if (!read_function(function, device, &attributes)) return false;
    if (attributes.ptxVersion != original.ptxVersion) return false;
    if (original.preferredShmemCarveout != attributes.preferredShmemCarveout &&
        cudaFuncSetAttribute(functions[function], cudaFuncAttributePreferredSharedMemoryCarveout,
                             original.preferredShmemCarveout) != cudaSuccess) {
      return cleared();
    }
  }
  return true;
}

#if defined(CUPILOT_BY_DRIVER)
// A function (CUfunction) is a kernel in one context. The driver launches it some 150 ns sooner than the kernel, which it
// has to look up (H200, driver 580). It ends with its context, by cudaDeviceReset for instance, whose number
// (cuCtxGetId) is never another context's: so that is compared before each launch.
void learn_functions(const variant_row& row) {
  const context_number ask = (context_number)driver_entry("cuCtxGetId");
  const function_of_kernel get = (function_of_kernel)driver_entry("cuKernelGetFunction");
  unsigned long long context = 0;
  if (ask == 0 || get == 0 || ask(0, &context) != 0 || context == 0) return;
  if (hot.context == 0) {
    hot.context = context;
    __atomic_store_n(&hot.ask_context, ask, __ATOMIC_RELEASE);
  }
  if (hot.context != context) return;
  for (int function = row.first_entry; function < row.first_entry + row.entry_count; ++function) {
    const cupilot_handle kernel = __atomic_load_n(&hot.handles[function], __ATOMIC_ACQUIRE);
    cupilot_handle found = 0;
    if (kernel == 0 || hot.in_context[function] != 0 || get(&found, kernel) != 0) continue;
    __atomic_store_n(&hot.in_context[function], found, __ATOMIC_RELEASE);
  }
}

// What the driver is to launch in the thread's context. Null: the thread has none yet, and only the runtime makes one.
__attribute__((always_inline)) inline cupilot_handle launchable(int function, cupilot_handle kernel) {
  const context_number ask = __atomic_load_n(&hot.ask_context, __ATOMIC_ACQUIRE);
  unsigned long long context = 0;
  if (!CUPILOT_LIKELY(ask != 0)) return kernel;
  if (!CUPILOT_LIKELY(ask(0, &context) == 0)) return 0;
  const cupilot_handle found = __atomic_load_n(&hot.in_context[function], __ATOMIC_ACQUIRE);
  if (CUPILOT_LIKELY(found != 0 && context == hot.context)) return found;
  return context != 0 ? kernel : 0;
}
#endif

// Once for each kernel and device. Bit 0: done; bit v + 1: variant v of the kernel may run.
__attribute__((noinline)) unsigned prepare(int kernel, int device) {
  if (error_pending()) return 0;
  const relaxed capture;
  pthread_mutex_lock(&lock);
  unsigned bits = __atomic_load_n(&on[device].prepared[kernel], __ATOMIC_ACQUIRE);
  cudaFuncAttributes original;
  if (bits == 0 && read_device(device) && read_function(kernel, device, &original)) {
    bits = 1;
    if (hot.ask_capture == 0) {
      __atomic_store_n(&hot.ask_capture, (capture_status)driver_entry("cuStreamIsCapturing"), __ATOMIC_RELEASE);
#if defined(CUPILOT_BY_DRIVER)
      __atomic_store_n(&hot.by_driver, (driver_launch)driver_entry("cuLaunchKernel"), __ATOMIC_RELEASE);
#endif
    }
    const kernel_row& row = kernels[kernel];
    const int image_kind = kind_of_image();
    for (int v = 0; v < row.variant_count && v < 30 && !has_clusters(kernel, original) && has_our_arguments(kernel); ++v) {
      const variant_row& variant = variants[row.first_variant + v];
      if (!usable(variant, kernel, device, image_kind, original)) continue;
      bits |= 2u << v;
#if defined(CUPILOT_BY_DRIVER)
      learn_functions(variant);
#endif
    }
    __atomic_store_n(&on[device].prepared[kernel], bits, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
  return bits;
}

__attribute__((always_inline)) inline bool within(long long value, unsigned long long most) {
  return CUPILOT_LIKELY((unsigned long long)value - 1 < most);
}

__attribute__((always_inline)) inline bool shape_fits(const geometry& g, int max_threads) {
  return within(g.grid_x, 2147483647) && within(g.grid_y, 65535) && within(g.grid_z, 65535) &&
         within(g.block_x, 1024) && within(g.block_y, 1024) && within(g.block_z, 64) &&
         CUPILOT_LIKELY(g.block_x * g.block_y * g.block_z <= max_threads) &&
         CUPILOT_LIKELY(g.shared >= 0);
}

// One number at a time: moved as vectors the dimensions would be read before they are written, which
// costs more than all the checks.
__attribute__((always_inline)) inline long long apart(unsigned value) {
  long long wide = value;
  __asm__("" : "+r"(wide));
  return wide;
}

__attribute__((always_inline)) inline geometry geometry_of(dim3 grid, dim3 block, size_t shared) {
  geometry g;
  g.grid_x = apart(grid.x);
  g.grid_y = apart(grid.y);
  g.grid_z = apart(grid.z);
  g.block_x = apart(block.x);
  g.block_y = apart(block.y);
  g.block_z = apart(block.z);
  g.shared = shared > 2147483647UL ? -1LL : (long long)shared;
  return g;
}

// The program may have raised the original's limit since it was read.
__attribute__((noinline)) bool shared_is_legal(int kernel, int device, long long bytes) {
  function_facts& f = on[device].facts[kernel];
  cudaFuncAttributes attributes;
  if (error_pending()) return false;
  const relaxed capture;
  if (cudaFuncGetAttributes(&attributes, functions[kernel]) != cudaSuccess) return cleared();
  __atomic_store_n(&f.dynamic_bytes, (long long)attributes.maxDynamicSharedSizeBytes,
                   __ATOMIC_RELAXED);
  return bytes <= attributes.maxDynamicSharedSizeBytes;
}

__attribute__((always_inline)) inline bool original_is_legal(int kernel, const launch& l, const geometry& g) {
  const function_facts& f = on[l.device].facts[kernel];
  return shape_fits(g, f.max_threads) &&
         (CUPILOT_LIKELY(g.shared <= __atomic_load_n(&f.dynamic_bytes, __ATOMIC_RELAXED)) ||
          shared_is_legal(kernel, l.device, g.shared));
}

// A limit is only ever raised, under the lock, so that two threads cannot undo each other's.
__attribute__((noinline)) bool raise_shared(int function, int device, long long bytes) {
  function_facts& f = on[device].facts[function];
  if (bytes + f.static_bytes > on[device].device.max_shared_bytes || error_pending()) return false;
  const relaxed capture;
  pthread_mutex_lock(&lock);
  bool done = bytes <= __atomic_load_n(&f.dynamic_bytes, __ATOMIC_RELAXED);
  if (!done) {
    done = cudaFuncSetAttribute(functions[function], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)bytes) == cudaSuccess ||
           cleared();
    if (done) __atomic_store_n(&f.dynamic_bytes, bytes, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&lock);
  return done;
}

__attribute__((always_inline)) inline bool fits(int function, const geometry& g, const launch& l) {
  const function_facts& f = on[l.device].facts[function];
  return shape_fits(g, f.max_threads) &&
         (CUPILOT_LIKELY(g.shared <= __atomic_load_n(&f.dynamic_bytes, __ATOMIC_RELAXED)) ||
          raise_shared(function, l.device, g.shared));
}

// A variant with the original's geometry: both legal, looked at once.
__attribute__((always_inline)) inline bool both_fit(int kernel, int function, const geometry& o, const launch& l) {
  const function_facts& f = on[l.device].facts[function];
  return original_is_legal(kernel, l, o) &&
         CUPILOT_LIKELY(o.block_x * o.block_y * o.block_z <= f.max_threads) &&
         (CUPILOT_LIKELY(o.shared <= __atomic_load_n(&f.dynamic_bytes, __ATOMIC_RELAXED)) ||
          raise_shared(function, l.device, o.shared));
}

// Two numbers in one word: written one by one they would be read as one before they have arrived.
__attribute__((always_inline)) inline dim3 dimensions(long long x, long long y, long long z) {
  const unsigned long long both = (unsigned long long)(unsigned)y << 32 | (unsigned)x;
  dim3 d;
  memcpy((void*)&d, &both, sizeof both);
  d.z = (unsigned)z;
  return d;
}

__attribute__((always_inline)) inline cudaError_t start(int function, const geometry& g, void** arguments, const launch& l) {
  return cupilot_real(__atomic_load_n(&hot.handles[function], __ATOMIC_RELAXED),
                      dimensions(g.grid_x, g.grid_y, g.grid_z),
                      dimensions(g.block_x, g.block_y, g.block_z), arguments, (size_t)g.shared,
                      l.stream);
}

// A launch of a variant was refused, so nothing was queued: the original runs instead. What was known of
// the device may be of a context that is gone (cudaDeviceReset); a kernel is given up after some refusals.
__attribute__((noinline)) bool refused_quietly(int kernel, int device) {
  static int refusals[kernel_count];
  __atomic_add_fetch(&refusals[kernel], 1, __ATOMIC_RELAXED);
  for (int i = 0; i < kernel_count; ++i) {
    const bool given_up = __atomic_load_n(&refusals[i], __ATOMIC_RELAXED) >= 4;
    __atomic_store_n(&on[device].prepared[i], given_up ? 1u : 0u, __ATOMIC_RELEASE);
    __atomic_store_n(&hot.bits[i], 0u, __ATOMIC_RELEASE);
  }
  return false;
}
bool refused(int kernel, int device, cudaError_t* result) {
  refused_quietly(kernel, device);
  *result = cudaSuccess;  // the next variant's may be one that asks nobody for it
  return cleared();
}

// The only launch of a variant. False: it was refused.
__attribute__((always_inline)) inline bool launch_only(int kernel, int function, dim3 grid, dim3 block, size_t shared,
                                                       const launch& l, cudaError_t* result) {
  const cupilot_handle handle = __atomic_load_n(&hot.handles[function], __ATOMIC_RELAXED);
#if defined(CUPILOT_BY_DRIVER)
  const driver_launch by_driver = __atomic_load_n(&hot.by_driver, __ATOMIC_ACQUIRE);
  if (CUPILOT_LIKELY(by_driver != 0)) {
    cudaStream_t stream = l.stream;
#if defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM)
    if (stream == 0) stream = cudaStreamPerThread;
#endif
    const cupilot_handle target = launchable(function, handle);
    if (!CUPILOT_LIKELY(target != 0)) return false;
    const int code = by_driver(target, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared, stream,
                               l.arguments, 0);
    if (CUPILOT_LIKELY(code == 0)) return true;
    if (target != handle) {  // from now on the kernel is launched; whether that is refused too, the next launch tells
      __atomic_store_n(&hot.in_context[function], handle, __ATOMIC_RELEASE);
      return false;
    }
    // This thread has no context yet: the original's launch makes it.
    const int not_initialized = 3, invalid_context = 201;
    return code != not_initialized && code != invalid_context && refused_quietly(kernel, l.device);
  }
#endif
  *result = cupilot_real(handle, grid, block, l.arguments, shared, l.stream);
  return CUPILOT_LIKELY(*result == cudaSuccess) || refused(kernel, l.device, result);
}

// The last answer for each function, in one word: device, threads, shared bytes, blocks.
unsigned long long occupancies[function_count];

bool occupancy(int function, const geometry& g, const launch& l, long long* blocks) {
  if (!shape_fits(g, on[l.device].facts[function].max_threads) || g.shared >= (1 << 24)) return false;
  const unsigned long long threads = (unsigned long long)(g.block_x * g.block_y * g.block_z);
  const unsigned long long key = (unsigned long long)(l.device + 1) << 59 | threads << 44 |
                                 (unsigned long long)g.shared << 16;
  const unsigned long long known = __atomic_load_n(&occupancies[function], __ATOMIC_RELAXED);
  if ((known & ~0xffffULL) == key) {
    *blocks = (long long)(known & 0xffffULL);
    return true;
  }
  int count = 0;
  if (error_pending() || !fits(function, g, l)) return false;
  const relaxed capture;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, functions[function], (int)threads,
                                                    (size_t)g.shared) != cudaSuccess) {
    return cleared();
  }
  if (count < 0 || count > 65535) return false;
  __atomic_store_n(&occupancies[function], key | (unsigned long long)count, __ATOMIC_RELAXED);
  *blocks = count;
  return true;
}
)hook";
}

std::string HookEpilogue(const std::string& hook) {
  return R"hook(
const unsigned counted = 1u << 31;

// The kernel's bits where they are not settled, below the device. `counted`: for the statistics.
__attribute__((noinline)) unsigned long long ask_bits(int kernel) {
  const int word = mode();
  if ((word & mode_disabled) != 0 || __atomic_load_n(&disabled[kernel], __ATOMIC_RELAXED) ||
      __atomic_load_n(&hot.handles[kernel], __ATOMIC_ACQUIRE) == 0) {
    return 0;
  }
  const int device = current_device();
  if ((unsigned)device >= (unsigned)device_limit) return 0;
  unsigned bits = __atomic_load_n(&on[device].prepared[kernel], __ATOMIC_ACQUIRE);
  if (bits == 0) bits = prepare(kernel, device);
  if ((word & mode_statistics) != 0) bits |= counted;
  if (__atomic_load_n(&hot.device_count, __ATOMIC_ACQUIRE) == 1 && (word & mode_statistics) == 0) {
    __atomic_store_n(&hot.bits[kernel], bits, __ATOMIC_RELEASE);
  }
  return (unsigned long long)device << 32 | bits;
}

__attribute__((always_inline)) inline bool try_variants(int kernel, launch& l, const geometry& g, cudaError_t* result) {
  unsigned bits = __atomic_load_n(&hot.bits[kernel], __ATOMIC_ACQUIRE);
  if (!CUPILOT_LIKELY(bits != 0)) {
    const unsigned long long answer = ask_bits(kernel);
    bits = (unsigned)answer;
    l.device = (int)(answer >> 32);
  }
  const bool ran = select(kernel, bits, l, g, result);
  if (!CUPILOT_LIKELY((bits & counted) == 0)) {
    const bool in_graph = !ran && !error_pending() && captured(l.stream);
    __atomic_fetch_add(ran ? &hits[kernel] : in_graph ? &captures[kernel] : &misses[kernel], 1ULL, __ATOMIC_RELAXED);
  }
  return ran;
}

// Of what a program launches by a function's address; negative: none of ours.
int find_function(const void* function) {
  for (int i = 0; i < kernel_count; ++i) {
    if (function == 0 || function_at(i) != function) continue;
    const bool is_known = __atomic_load_n(&hot.handles_known, __ATOMIC_ACQUIRE) != 0;
    return is_known || (!error_pending() && resolve()) ? i : -1;
  }
  return -1;
}

}  // namespace cupilot_swap
}  // namespace

// In a section of its own, so that every call of it leaves a relocation, by which the launcher sees that
// the object's launches come here.
extern "C" __attribute__((visibility("hidden"), noinline, noclone, used,
                          section(".text.cupilot_hook"))) cudaError_t
)hook" + hook +
         R"hook((cupilot_handle handle, dim3 grid, dim3 block, void** arguments, size_t shared,
    cudaStream_t stream) {
  // Keeps the description in the program as long as the hook is in it.
  __asm__ volatile("" : : "r"(&cupilot_swap::description[0]));
  const int kernel = cupilot_swap::find(handle);
  if (CUPILOT_LIKELY(kernel >= 0)) {
    cupilot_swap::launch l = {&grid, &block, arguments, shared, stream, 0};
    const cupilot_swap::geometry g = cupilot_swap::geometry_of(grid, block, shared);
    cudaError_t result = cudaSuccess;
    if (cupilot_swap::try_variants(kernel, l, g, &result)) return result;
  }
  return cupilot_real(handle, grid, block, arguments, shared, stream);
}

// The same function by another name: a call of ours is no sign that the object's launches come here, and a
// second copy of what the hook does would not be woven into one piece.
extern "C" __attribute__((visibility("hidden"), alias(")hook" +
         hook + R"hook("))) cudaError_t
)hook" + hook +
         R"hook(_again(cupilot_handle, dim3, dim3, void**, size_t, cudaStream_t);

extern "C" __attribute__((visibility("hidden"), used)) cudaError_t
)hook" + hook +
         R"hook(_call(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
    cudaStream_t stream) {
  const int kernel = cupilot_swap::find_function(function);
  if (kernel < 0) return cupilot_real_call(function, grid, block, arguments, shared, stream);
  return )hook" +
         hook +
         R"hook(_again(__atomic_load_n(&cupilot_swap::hot.handles[kernel], __ATOMIC_RELAXED), grid, block,
      arguments, shared, stream);
}

#if defined(CUPILOT_SWAP_EX)
extern "C" __attribute__((visibility("hidden"), used)) cudaError_t
)hook" + hook +
         R"hook(_call_ex(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  // Attributes (clusters, programmatic launches, cooperation) are for the original alone.
  const int kernel =
      config != 0 && config->numAttrs == 0 ? cupilot_swap::find_function(function) : -1;
  if (kernel < 0) return cupilot_real_call_ex(config, function, arguments);
  return )hook" +
         hook +
         R"hook(_again(__atomic_load_n(&cupilot_swap::hot.handles[kernel], __ATOMIC_RELAXED),
      config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream);
}
#undef CUPILOT_SWAP_EX
#endif
#undef CUPILOT_SWAP_BY_FUNCTION
#undef CUPILOT_LIKELY
#undef CUPILOT_BY_DRIVER
#undef CUPILOT_DRIVER_ENTRIES
)hook" + HookStubs(hook) +
         R"hook(#pragma GCC diagnostic pop
#endif
)hook";
}

}  // namespace cupilot::source
