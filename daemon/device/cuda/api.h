// The part of NVIDIA's driver and NVRTC interfaces that cuPilot calls, declared by ourselves so
// that one build serves machines with and without a toolkit: the libraries are opened at run time.
// Names, values and signatures are those of cuda.h and nvrtc.h (toolkit 13.0, and 12 by its
// documented names); tests/daemon/device/cuda/api_test.cc holds them against the toolkit's headers
// where there are any. Types that are opaque there are void pointers here.
#pragma once

#include <cstddef>

namespace cupilot::device::cuda {

using Status = int;                        // CUresult
using DeviceHandle = int;                  // CUdevice
using DevicePointer = unsigned long long;  // CUdeviceptr
using Context = void*;                     // CUcontext
using Module = void*;                      // CUmodule
using Function = void*;                    // CUfunction
using Stream = void*;                      // CUstream
using Event = void*;                       // CUevent
using Graph = void*;                       // CUgraph
using GraphExec = void*;                   // CUgraphExec

struct Uuid {
  unsigned char bytes[16];
};

// CUresult
inline constexpr Status kSuccess = 0;
inline constexpr Status kInvalidValue = 1;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kDeviceUnavailable = 46;
inline constexpr Status kNoDevice = 100;
inline constexpr Status kInvalidDevice = 101;
inline constexpr Status kInvalidImage = 200;
inline constexpr Status kNoBinaryForGpu = 209;
inline constexpr Status kNotFound = 500;
inline constexpr Status kLaunchOutOfResources = 701;
inline constexpr Status kSystemNotReady = 802;

// CUdevice_attribute
enum Attribute : int {
  kMaxThreadsPerBlock = 1,
  kWarpSize = 10,
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerBlockOptin = 97,
};

// CUfunction_attribute
enum FunctionAttribute : int {
  kFunctionMaxThreadsPerBlock = 0,
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicSharedBytes = 8,
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr int kCaptureThreadLocal = 1;

// libcuda; all of it is there once the driver is open.
struct DriverApi {
  Status (*cuInit)(unsigned);
  Status (*cuDriverGetVersion)(int*);
  Status (*cuGetErrorName)(Status, const char**);
  Status (*cuGetErrorString)(Status, const char**);
  Status (*cuDeviceGetCount)(int*);
  Status (*cuDeviceGet)(DeviceHandle*, int);
  Status (*cuDeviceGetName)(char*, int, DeviceHandle);
  Status (*cuDeviceGetUuid_v2)(Uuid*, DeviceHandle);
  Status (*cuDeviceTotalMem_v2)(std::size_t*, DeviceHandle);
  Status (*cuDeviceGetAttribute)(int*, int, DeviceHandle);
  Status (*cuDevicePrimaryCtxRetain)(Context*, DeviceHandle);
  Status (*cuCtxSetCurrent)(Context);
  Status (*cuMemGetInfo_v2)(std::size_t*, std::size_t*);
  Status (*cuMemAlloc_v2)(DevicePointer*, std::size_t);
  Status (*cuMemFree_v2)(DevicePointer);
  Status (*cuMemHostRegister_v2)(void*, std::size_t, unsigned);
  Status (*cuMemcpyHtoD_v2)(DevicePointer, const void*, std::size_t);
  Status (*cuMemcpyDtoH_v2)(void*, DevicePointer, std::size_t);
  Status (*cuMemcpyDtoDAsync_v2)(DevicePointer, DevicePointer, std::size_t, Stream);
  Status (*cuMemsetD8Async)(DevicePointer, unsigned char, std::size_t, Stream);
  Status (*cuModuleLoadData)(Module*, const void*);
  Status (*cuModuleUnload)(Module);
  Status (*cuModuleGetGlobal_v2)(DevicePointer*, std::size_t*, Module, const char*);
  Status (*cuModuleGetFunctionCount)(unsigned*, Module);
  Status (*cuModuleEnumerateFunctions)(Function*, unsigned, Module);
  Status (*cuFuncGetName)(const char**, Function);
  Status (*cuFuncGetParamInfo)(Function, std::size_t, std::size_t*, std::size_t*);
  Status (*cuFuncGetAttribute)(int*, int, Function);
  Status (*cuFuncSetAttribute)(Function, int, int);
  Status (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int*, Function, int, std::size_t);
  Status (*cuLaunchKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, Stream, void**, void**);
  Status (*cuStreamCreate)(Stream*, unsigned);
  Status (*cuStreamSynchronize)(Stream);
  Status (*cuStreamBeginCapture_v2)(Stream, int);
  Status (*cuStreamEndCapture)(Stream, Graph*);
  Status (*cuGraphInstantiateWithFlags)(GraphExec*, Graph, unsigned long long);
  Status (*cuGraphLaunch)(GraphExec, Stream);
  Status (*cuGraphUpload)(GraphExec, Stream);
  Status (*cuGraphExecDestroy)(GraphExec);
  Status (*cuGraphDestroy)(Graph);
  Status (*cuEventCreate)(Event*, unsigned);
  Status (*cuEventRecord)(Event, Stream);
  Status (*cuEventSynchronize)(Event);
  Status (*cuEventElapsedTime)(float*, Event, Event);
};

using NvrtcStatus = int;     // nvrtcResult
using NvrtcProgram = void*;  // nvrtcProgram

struct NvrtcApi {
  const char* (*nvrtcGetErrorString)(NvrtcStatus);
  NvrtcStatus (*nvrtcVersion)(int*, int*);
  NvrtcStatus (*nvrtcCreateProgram)(NvrtcProgram*, const char*, const char*, int,
                                    const char* const*, const char* const*);
  NvrtcStatus (*nvrtcDestroyProgram)(NvrtcProgram*);
  NvrtcStatus (*nvrtcCompileProgram)(NvrtcProgram, int, const char* const*);
  NvrtcStatus (*nvrtcGetCUBINSize)(NvrtcProgram, std::size_t*);
  NvrtcStatus (*nvrtcGetCUBIN)(NvrtcProgram, char*);
  NvrtcStatus (*nvrtcGetPTXSize)(NvrtcProgram, std::size_t*);
  NvrtcStatus (*nvrtcGetPTX)(NvrtcProgram, char*);
  NvrtcStatus (*nvrtcGetProgramLogSize)(NvrtcProgram, std::size_t*);
  NvrtcStatus (*nvrtcGetProgramLog)(NvrtcProgram, char*);
};

}  // namespace cupilot::device::cuda
