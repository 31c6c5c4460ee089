// What a CUDA toolkit of version CUDART_VERSION has beyond the host device's runtime, and no more:
// a hook that uses what came later does not compile. Included by cuda_runtime.h.
#pragma once

enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed = 2 };
static cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return cudaSuccess;
}

// The driver, newer than any toolkit here.
namespace recording {
static std::vector<std::string> asked;  // of the driver's functions by name
static unsigned long long context = 1;

extern "C" inline int DriverGetDevice(int* device) {
  *device = recording::device;
  return 0;
}
extern "C" inline int DriverIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(stream, status) == cudaSuccess ? 0 : 1;
}
extern "C" inline int DriverContextId(void*, unsigned long long* id) {
  *id = context;
  return 0;
}
extern "C" inline int DriverAttribute(int* value, int attribute, void*) {
  *value = attribute == 11 ? cluster_width : 0;  // CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
  return 0;
}
extern "C" inline int DriverFind(const char* name, void** entry, int version, unsigned long long);

// The function that a driver of `version` has by this name.
inline void* DriverEntry(const std::string& name, int version) {
  asked.push_back(name);
  if (name == "cuCtxGetDevice") return reinterpret_cast<void*>(&DriverGetDevice);
  if (name == "cuStreamIsCapturing") return reinterpret_cast<void*>(&DriverIsCapturing);
  if (name == "cuFuncGetAttribute") return reinterpret_cast<void*>(&DriverAttribute);
  if (name == "cuCtxGetId" && version >= 12000) return reinterpret_cast<void*>(&DriverContextId);
  if (name == "cuGetProcAddress" && version < 12000) return reinterpret_cast<void*>(&DriverFind);
  return nullptr;
}
extern "C" inline int DriverFind(const char* name, void** entry, int version, unsigned long long) {
  *entry = DriverEntry(name, version);
  return *entry == nullptr ? 500 : 0;  // CUDA_ERROR_NOT_FOUND
}
}  // namespace recording

#define cudaEnableDefault 0x0
#if CUDART_VERSION >= 12000
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess,
  cudaDriverEntryPointSymbolNotFound
};
#endif
#if CUDART_VERSION >= 12050
static cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** entry,
                                                    unsigned version, unsigned long long,
                                                    cudaDriverEntryPointQueryResult* result) {
  *entry = recording::DriverEntry(name, static_cast<int>(version));
  *result = *entry != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
#endif
#if CUDART_VERSION < 13000
static cudaError_t cudaGetDriverEntryPoint(const char* name, void** entry, unsigned long long
#if CUDART_VERSION >= 12000
                                           ,
                                           cudaDriverEntryPointQueryResult* = nullptr
#endif
) {
  *entry = recording::DriverEntry(name, CUDART_VERSION);
  return *entry != nullptr ? cudaSuccess : recording::pending = cudaErrorInvalidValue;
}
#endif
typedef struct function_tag* cudaFunction_t;
static cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  *function = static_cast<cudaFunction_t>(const_cast<void*>(symbol));
  return cudaSuccess;
}

typedef struct pool_tag* cudaMemPool_t;
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  struct {
    cudaMemLocationType type;
    int id;
  } location;
};
static cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  recording::calls.push_back("pool");
  *pool = reinterpret_cast<cudaMemPool_t>(&recording::context);
  return cudaSuccess;
}
static cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
static cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t,
                                           cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
static cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }
