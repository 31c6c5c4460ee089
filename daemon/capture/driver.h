// The part of the CUDA driver that capture calls, and what a launch hands to it, declared by
// ourselves so that it builds without a toolkit. Names and layouts are those of cuda.h and
// generated_cuda_meta.h; tests/daemon/capture/declarations_test.cc holds them against the toolkit's
// headers where there are any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cupilot::capture {

using DriverResult = int;  // CUresult
inline constexpr DriverResult kDriverSuccess = 0;
inline constexpr DriverResult kDriverInvalidValue = 1;
inline constexpr DriverResult kCaptureInvalidated = 901;
inline constexpr DriverResult kCaptureUnjoined = 904;

inline constexpr int kMaxDynamicSharedBytes = 8;  // CUfunction_attribute
inline constexpr int kAttributeCooperative = 2;   // CUlaunchAttributeID
inline constexpr int kAttributeCluster = 4;

// CUpointer_attribute, CUmemorytype.
inline constexpr int kPointerMemoryType = 2, kPointerHostPointer = 4, kPointerIsManaged = 8,
                     kPointerRangeStart = 11, kPointerRangeSize = 12;
inline constexpr unsigned kMemoryHost = 1, kMemoryDevice = 2;

// CU_LAUNCH_PARAM_*: the words before each entry of `extra`.
inline constexpr std::uintptr_t kExtraEnd = 0, kExtraBuffer = 1, kExtraSize = 2;

inline constexpr std::uintptr_t kPerThreadStream = 2;  // CU_STREAM_PER_THREAD

// CUlaunchAttribute: its value is a union of 64 bytes.
struct LaunchAttribute {
  int id;
  char pad[4];
  std::uint32_t value[16];
};

// CUlaunchConfig
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};

// cuLaunchKernel_params; cuLaunchCooperativeKernel_params is the same without `extra`.
struct LaunchKernelCall {
  void* function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  void** parameters;
  void** extra;
};

// cuLaunchKernelEx_params
struct LaunchKernelExCall {
  const LaunchConfig* config;
  void* function;
  void** parameters;
  void** extra;
};

// Those at the end may be null: drivers before CUDA 12.4 lack them.
struct Driver {
  DriverResult (*cuCtxGetDevice)(int*);
  DriverResult (*cuCtxSetCurrent)(void*);
  DriverResult (*cuCtxSynchronize)();
  DriverResult (*cuFuncGetAttribute)(int*, int, void*);
  DriverResult (*cuMemGetAddressRange_v2)(std::uint64_t*, std::size_t*, std::uint64_t);
  DriverResult (*cuMemcpyDtoH_v2)(void*, std::uint64_t, std::size_t);
  DriverResult (*cuModuleGetGlobal_v2)(std::uint64_t*, std::size_t*, void*, const char*);
  DriverResult (*cuPointerGetAttribute)(void*, int, std::uint64_t);
  DriverResult (*cuStreamIsCapturing)(void*, int*);

  DriverResult (*cuFuncGetModule)(void**, void*);
  DriverResult (*cuFuncGetName)(const char**, void*);
  DriverResult (*cuFuncGetParamInfo)(void*, std::size_t, std::size_t*, std::size_t*);
  DriverResult (*cuKernelGetFunction)(void**, void*);
  DriverResult (*cuKernelGetParamInfo)(void*, std::size_t, std::size_t*, std::size_t*);
  DriverResult (*cuMemRelease)(std::uint64_t);
  DriverResult (*cuMemRetainAllocationHandle)(std::uint64_t*, void*);
};

// Of the driver that loads us; false if it lacks what is needed.
bool FindDriver(Driver& driver);

}  // namespace cupilot::capture
