// Our declarations of NVIDIA's interfaces against the toolkit's headers, where there are any.
#include "device/cuda/api.h"

#include <gtest/gtest.h>

#include <type_traits>

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#include <cuda.h>
#include <nvrtc.h>

namespace cupilot::device::cuda {
namespace {

static_assert(sizeof(Status) == sizeof(CUresult));
static_assert(std::is_same_v<DeviceHandle, CUdevice>);
static_assert(std::is_same_v<DevicePointer, CUdeviceptr>);
static_assert(sizeof(Uuid) == sizeof(CUuuid));
static_assert(kSuccess == CUDA_SUCCESS && kInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY && kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(kInvalidImage == CUDA_ERROR_INVALID_IMAGE);
static_assert(kNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(kLaunchOutOfResources == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
static_assert(int{kMaxThreadsPerBlock} == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(int{kWarpSize} == CU_DEVICE_ATTRIBUTE_WARP_SIZE);
static_assert(int{kMultiprocessorCount} == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(int{kL2CacheSize} == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(int{kMaxThreadsPerMultiprocessor} ==
              CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
static_assert(int{kComputeCapabilityMajor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int{kComputeCapabilityMinor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(int{kMaxSharedMemoryPerBlockOptin} ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(int{kFunctionMaxThreadsPerBlock} == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(int{kFunctionSharedBytes} == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(int{kFunctionLocalBytes} == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(int{kFunctionRegisters} == CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(int{kFunctionMaxDynamicSharedBytes} ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kCaptureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);

// Whether two functions take the same registers: as many parameters, of the same sizes.
template <class A, class B>
struct SameShape : std::false_type {};
template <class R, class... As, class S, class... Bs>
struct SameShape<R (*)(As...), S (*)(Bs...)> {
  static constexpr bool value = []() {
    if constexpr (sizeof...(As) != sizeof...(Bs)) {
      return false;
    } else {
      return ((sizeof(As) == sizeof(Bs)) && ...);
    }
  }();
};

#define CUPILOT_SAME(function) \
  static_assert(SameShape<decltype(DriverApi::function), decltype(&::function)>::value, #function)
CUPILOT_SAME(cuInit);
CUPILOT_SAME(cuDriverGetVersion);
CUPILOT_SAME(cuGetErrorName);
CUPILOT_SAME(cuGetErrorString);
CUPILOT_SAME(cuDeviceGetCount);
CUPILOT_SAME(cuDeviceGet);
CUPILOT_SAME(cuDeviceGetName);
CUPILOT_SAME(cuDeviceGetUuid_v2);
CUPILOT_SAME(cuDeviceTotalMem_v2);
CUPILOT_SAME(cuDevicePrimaryCtxRetain);
CUPILOT_SAME(cuCtxSetCurrent);
CUPILOT_SAME(cuMemGetInfo_v2);
CUPILOT_SAME(cuMemAlloc_v2);
CUPILOT_SAME(cuMemFree_v2);
CUPILOT_SAME(cuMemHostRegister_v2);
CUPILOT_SAME(cuMemcpyHtoD_v2);
CUPILOT_SAME(cuMemcpyDtoH_v2);
CUPILOT_SAME(cuMemcpyDtoDAsync_v2);
CUPILOT_SAME(cuMemsetD8Async);
CUPILOT_SAME(cuModuleLoadData);
CUPILOT_SAME(cuModuleUnload);
CUPILOT_SAME(cuModuleGetGlobal_v2);
CUPILOT_SAME(cuModuleGetFunctionCount);
CUPILOT_SAME(cuModuleEnumerateFunctions);
CUPILOT_SAME(cuFuncGetName);
CUPILOT_SAME(cuFuncGetParamInfo);
CUPILOT_SAME(cuFuncSetAttribute);
CUPILOT_SAME(cuOccupancyMaxActiveBlocksPerMultiprocessor);
CUPILOT_SAME(cuLaunchKernel);
CUPILOT_SAME(cuStreamCreate);
CUPILOT_SAME(cuStreamSynchronize);
CUPILOT_SAME(cuStreamBeginCapture_v2);
CUPILOT_SAME(cuStreamEndCapture);
CUPILOT_SAME(cuGraphInstantiateWithFlags);
CUPILOT_SAME(cuGraphLaunch);
CUPILOT_SAME(cuGraphUpload);
CUPILOT_SAME(cuGraphExecDestroy);
CUPILOT_SAME(cuGraphDestroy);
CUPILOT_SAME(cuEventCreate);
CUPILOT_SAME(cuEventRecord);
CUPILOT_SAME(cuEventSynchronize);
// cuEventElapsedTime: toolkit 13 declares its successor under that name; the driver keeps both.
#undef CUPILOT_SAME

TEST(CudaApi, IsTheToolkits) {
  SUCCEED() << "toolkit " << CUDA_VERSION << ", held at compile time";
}

}  // namespace
}  // namespace cupilot::device::cuda
#else
TEST(CudaApi, IsTheToolkits) { GTEST_SKIP() << "no CUDA toolkit here"; }
#endif
