/* The typed C++ forms of the runtime API. */
#ifndef CUPILOT_HOST_CRT_RUNTIME_TEMPLATES_H_
#define CUPILOT_HOST_CRT_RUNTIME_TEMPLATES_H_

template <class T>
static inline cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return ::cudaMalloc((void**)(void*)pointer, bytes);
}
template <class T>
static inline cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = 0) {
  return ::cudaHostAlloc((void**)(void*)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc((void**)(void*)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void**)(void*)device, host, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T** pointer, size_t bytes,
                                            unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(void*)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(void*)pointer, pitch, width, height);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(void*)pointer, bytes, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void*)&symbol, from, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                                  size_t offset = 0,
                                                  cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                  cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void*)&symbol, from, bytes, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                               size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, (const void*)&symbol, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes,
                                                    size_t offset = 0,
                                                    cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(to, (const void*)&symbol, bytes, offset, kind, stream);
}
template <class T>
static inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress(pointer, (const void*)&symbol);
}
template <class T>
static inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  *bytes = sizeof(symbol);
  return cudaSuccess;
}
template <class T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* function) {
  return ::cudaFuncGetAttributes(attributes, (const void*)function);
}
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T* function, cudaFuncAttribute attribute,
                                               int value) {
  return ::cudaFuncSetAttribute((const void*)function, attribute, value);
}
template <class T>
static inline cudaError_t cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig((const void*)function, config);
}
template <class T>
static inline cudaError_t cudaLaunchKernel(T* function, dim3 grid, dim3 block, void** arguments,
                                           size_t sharedBytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void*)function, grid, block, arguments, sharedBytes, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T* function, dim3 grid, dim3 block,
                                                      void** arguments, size_t sharedBytes = 0,
                                                      cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void*)function, grid, block, arguments, sharedBytes,
                                       stream);
}
namespace cupilot_host {
/* Arguments in the types of the kernel's parameters, for the time of the launch. */
template <class... P>
inline cudaError_t launch_with(const cudaLaunchConfig_t* config, const void* function, P... p) {
  void* arguments[] = {(void*)&p..., (void*)0};
  return ::cudaLaunchKernelExC(config, function, arguments);
}
}  // namespace cupilot_host
template <class... P, class... A>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                                             void (*function)(P...), A&&... arguments) {
  return cupilot_host::launch_with<P...>(config, (const void*)function,
                                         static_cast<A&&>(arguments)...);
}
template <class T>
static inline cudaError_t cudaGetKernel(cudaKernel_t* kernel, T* function) {
  return ::cudaGetKernel(kernel, (const void*)function);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T function,
                                                                        int blockThreads,
                                                                        size_t sharedBytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)function,
                                                         blockThreads, sharedBytes);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, T function, int blockThreads, size_t sharedBytes, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, (const void*)function, blockThreads, sharedBytes, flags);
}
template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* function,
                                                                    int blocks, int blockThreads) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void*)function, blocks,
                                                     blockThreads);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, T function,
                                                             size_t sharedBytes = 0,
                                                             int limit = 0) {
  cudaFuncAttributes attributes;
  const cudaError_t error = ::cudaFuncGetAttributes(&attributes, (const void*)function);
  if (error != cudaSuccess) return error;
  int threads = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < threads) threads = limit;
  int blocks = 0;
  const cudaError_t counted = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, (const void*)function, threads, sharedBytes);
  if (counted != cudaSuccess) return counted;
  int units = 0;
  ::cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0);
  *block = threads;
  *grid = blocks * units;
  return cudaSuccess;
}
template <class T, class SharedBytesOf>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block,
                                                                         T function,
                                                                         SharedBytesOf bytes,
                                                                         int limit = 0) {
  const cudaError_t error =
      cudaOccupancyMaxPotentialBlockSize(grid, block, function, 0, limit);
  /* A block is all that a unit runs: only what it may have limits it. */
  while (error == cudaSuccess && *block > 1 && (size_t)bytes(*block) > 48 * 1024) *block /= 2;
  return error;
}
template <class T>
static inline cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                                                  cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, bytes, pool, stream);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                                          cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, bytes, pool, stream);
}
template <class T>
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer,
                                                   size_t bytes = 0,
                                                   unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, (void*)pointer, bytes, flags);
}
/* As of CUDA 13. */
static inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes,
                                               cudaMemLocation location, unsigned int flags,
                                               cudaStream_t stream = 0) {
  (void)flags;
  return ::cudaMemPrefetchAsync(pointer, bytes, location.id, stream);
}
static inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes,
                                        cudaMemoryAdvise advice, cudaMemLocation location) {
  return ::cudaMemAdvise(pointer, bytes, advice, location.id);
}
static inline cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc(pointer, bytes, flags);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}

static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  cudaExtent extent = {width, height, depth};
  return extent;
}
static inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width,
                                                 size_t height) {
  cudaPitchedPtr pitched = {pointer, pitch, width, height};
  return pitched;
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  cudaPos pos = {x, y, z};
  return pos;
}

#endif
