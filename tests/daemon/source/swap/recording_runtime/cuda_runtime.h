// A CUDA runtime for one translation unit that launches nothing: it records what it is asked, and a
// test sets what it answers. Enough for a swapped source as the host device compiles it, and with
// -DRECORDED_TOOLKIT=11080 as a CUDA toolkit of that version does (toolkit.h).
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if defined(RECORDED_TOOLKIT)
#define CUDART_VERSION RECORDED_TOOLKIT
#else
#define CUPILOT_HOST_ABI_VERSION 1
#define CUDART_VERSION 13000
#endif
#define __global__
#define __device__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
static dim3 blockIdx, blockDim, threadIdx;
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue, cudaErrorInvalidConfiguration = 9 };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrMaxThreadsPerMultiProcessor,
  cudaDevAttrL2CacheSize,
  cudaDevAttrWarpSize
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
typedef struct stream_tag* cudaStream_t;
#define cudaStreamLegacy ((cudaStream_t)1)
struct cudaDeviceProp {
  char name[256];
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;
  int maxThreadsPerBlock, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
#if CUDART_VERSION >= 12020
  int clusterDimMustBeSet, requiredClusterWidth;
#endif
};

struct Launched {
  const void* handle;
  dim3 grid, block;
  std::size_t shared;
};

namespace recording {
static std::vector<Launched> launches;
static std::vector<std::string> calls;  // what allocates, clears or sets
static cudaError_t pending = cudaSuccess;
static cudaError_t launch_error = cudaSuccess;
static const void* launches_only =
    nullptr;  // where set, launches of all other functions are refused
static const void* launches_also = nullptr;  // but for this one's
static bool runtime_refuses = false;         // whatever it is to launch
static bool capturing = false, fails_question = false;
static int questions = 0;  // whether a stream captures
static int device = 0, device_count = 1;
static bool fails_allocation = false;
static const char* architecture = "host-x86-64-v3";
static const char* device_name = "a device";
static int attribute_reads = 0;
static const void* all_but = nullptr;  // where set, all other functions take 64 threads a block
static int shared_limit = 49152;
static int image = 0;                                  // of all functions: 80 for sm_80
static const void* narrow = nullptr;                   // a function of 32 threads a block
static int cluster_width = 0;                          // of all functions
static void (*on_launch)(void** arguments) = nullptr;  // while the arguments live
static int by_driver = 0;                              // launches of the driver's own entry
static int driver_code = 0;
// The thread's context, and the driver's function in it of the kernel that it was asked for.
static unsigned long long thread_context = 7;
static bool number_of_none = false;  // without a context it tells 0, and no error
static char function_in_context;
static const void* kernel_in_context = nullptr;
static int by_function = 0;  // launches of it
}  // namespace recording

static cudaError_t cudaPeekAtLastError() { return recording::pending; }
static cudaError_t cudaGetLastError() {
  const cudaError_t error = recording::pending;
  recording::pending = cudaSuccess;
  return error;
}
static cudaError_t cudaGetDevice(int* device) {
  *device = recording::device;
  return cudaSuccess;
}
static cudaError_t cudaGetDeviceCount(int* count) {
  *count = recording::device_count;
  return cudaSuccess;
}
static cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const int values[] = {4, 100000, 2048, 1 << 20, 32};
  *value = values[attribute];
  return cudaSuccess;
}
static cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  std::strcpy(properties->name, device == 0 ? recording::device_name : "a second device");
  return cudaSuccess;
}
static cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  ++recording::attribute_reads;
  *attributes = cudaFuncAttributes();
  attributes->maxThreadsPerBlock = function == recording::narrow ? 32
                                   : recording::all_but != nullptr && function != recording::all_but
                                       ? 64
                                       : 1024;
  attributes->ptxVersion = attributes->binaryVersion = recording::image;
  attributes->maxDynamicSharedSizeBytes = recording::shared_limit;
  attributes->preferredShmemCarveout = -1;
#if CUDART_VERSION >= 12020
  attributes->requiredClusterWidth = recording::cluster_width;
#endif
  return cudaSuccess;
}
static cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
  recording::calls.push_back("raise " + std::to_string(value));
  return cudaSuccess;
}
static cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int,
                                                                 std::size_t) {
  recording::calls.push_back("occupancy");
  *blocks = 2;
  return cudaSuccess;
}
static cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  ++recording::questions;
  if (recording::fails_question) return recording::pending = cudaErrorInvalidValue;
  *status = recording::capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
static cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  recording::calls.push_back("allocate " + std::to_string(bytes));
  if (recording::fails_allocation) return recording::pending = cudaErrorInvalidValue;
  *pointer = std::calloc(1, bytes);
  return cudaSuccess;
}
static cudaError_t cudaFree(void* pointer) {
  recording::calls.push_back("free");
  std::free(pointer);
  return cudaSuccess;
}
static cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t) {
  recording::calls.push_back("fill " + std::to_string(bytes));
  std::memset(pointer, value, bytes);
  return cudaSuccess;
}
extern "C" inline const char* cupilot_host_architecture(const void*) {
  return recording::architecture;
}
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  void* attrs = nullptr;
  unsigned numAttrs = 0;
};
static cudaError_t Record(const void* handle, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared) {
  recording::launches.push_back({handle, grid, block, shared});
  if (recording::on_launch != nullptr) recording::on_launch(arguments);
  const bool refused = recording::runtime_refuses ||
                       (recording::launches_only != nullptr && handle != recording::launches_only &&
                        handle != recording::launches_also);
  const cudaError_t error = refused ? cudaErrorInvalidConfiguration : recording::launch_error;
  if (error != cudaSuccess) recording::pending = error;
  return error;
}
#if !defined(RECORDED_TOOLKIT)
// What cupilot_real is another name of.
extern "C" cudaError_t __cudaLaunchKernel(const void* handle, dim3 grid, dim3 block,
                                          void** arguments, std::size_t shared, cudaStream_t) {
  return Record(handle, grid, block, arguments, shared);
}
#endif
// What cupilot_real_call and cupilot_real_call_ex are other names of.
extern "C" cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared, cudaStream_t) {
  recording::calls.push_back("cudaLaunchKernel");
  return Record(function, grid, block, arguments, shared);
}
extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                           void** arguments) {
  recording::calls.push_back("cudaLaunchKernelExC");
  return Record(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes);
}
#if defined(CUPILOT_DRIVER_ENTRIES)
// The driver beside the runtime: it knows nothing of the runtime's last error.
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess,
  cudaDriverEntryPointSymbolNotFound
};
enum { cudaEnableDefault };
namespace recording {
static int DriverIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  ++questions;
  if (fails_question) return 1;
  *status = capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return 0;
}
static int DriverLaunch(const void* handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        cudaStream_t, void** arguments, void**) {
  ++by_driver;
  if (handle == &function_in_context) {
    ++by_function;
    handle = kernel_in_context;
  }
  launches.push_back(
      {handle, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared});
  if (on_launch != nullptr) on_launch(arguments);
  if (launches_only != nullptr && handle != launches_only) return 9;
  return launch_error != cudaSuccess ? 9 : driver_code;
}
static int DriverContext(void*, unsigned long long* number) {
  *number = thread_context;
  return thread_context != 0 || number_of_none ? 0 : 201;
}
static int DriverFunction(const void** function, const void* kernel) {
  if (kernel_in_context != nullptr && kernel != kernel_in_context) return 400;  // it has but one
  kernel_in_context = kernel;
  *function = &function_in_context;
  return 0;
}
}  // namespace recording
static cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** entry, unsigned, int,
                                                    cudaDriverEntryPointQueryResult* found) {
  *found = cudaDriverEntryPointSuccess;
  if (std::strcmp(name, "cuLaunchKernel") == 0) {
    *entry = reinterpret_cast<void*>(&recording::DriverLaunch);
  } else if (std::strcmp(name, "cuStreamIsCapturing") == 0) {
    *entry = reinterpret_cast<void*>(&recording::DriverIsCapturing);
  } else if (std::strcmp(name, "cuCtxGetId") == 0) {
    *entry = reinterpret_cast<void*>(&recording::DriverContext);
  } else if (std::strcmp(name, "cuKernelGetFunction") == 0) {
    *entry = reinterpret_cast<void*>(&recording::DriverFunction);
  } else {
    *found = cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}
#endif
template <class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t*, Arguments&&...) {
  return cudaErrorInvalidValue;  // of what is no function of the source
}
#if defined(RECORDED_TOOLKIT)
#include "toolkit.h"
#endif
