// Our declarations of the driver and of CUPTI against the toolkit's headers, where there are any.
#include <gtest/gtest.h>

#include "capture/cupti.h"
#include "capture/driver.h"

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti.h>

#include <cstddef>

namespace cupilot::capture {
namespace {

#define CUPILOT_MEMBER(Ours, ours, Theirs, theirs)                  \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) && \
                sizeof(Ours::ours) >= sizeof(Theirs::theirs))

CUPILOT_MEMBER(LaunchKernelCall, function, cuLaunchKernel_params, f);
CUPILOT_MEMBER(LaunchKernelCall, grid, cuLaunchKernel_params, gridDimX);
CUPILOT_MEMBER(LaunchKernelCall, block, cuLaunchKernel_params, blockDimX);
CUPILOT_MEMBER(LaunchKernelCall, shared_bytes, cuLaunchKernel_params, sharedMemBytes);
CUPILOT_MEMBER(LaunchKernelCall, stream, cuLaunchKernel_params, hStream);
CUPILOT_MEMBER(LaunchKernelCall, parameters, cuLaunchKernel_params, kernelParams);
CUPILOT_MEMBER(LaunchKernelCall, extra, cuLaunchKernel_params, extra);
CUPILOT_MEMBER(LaunchKernelCall, parameters, cuLaunchKernel_ptsz_params, kernelParams);
CUPILOT_MEMBER(LaunchKernelCall, parameters, cuLaunchCooperativeKernel_params, kernelParams);
static_assert(offsetof(cuLaunchCooperativeKernel_params, f) == 0);
CUPILOT_MEMBER(LaunchKernelExCall, config, cuLaunchKernelEx_params, config);
CUPILOT_MEMBER(LaunchKernelExCall, function, cuLaunchKernelEx_params, f);
CUPILOT_MEMBER(LaunchKernelExCall, extra, cuLaunchKernelEx_params, extra);
CUPILOT_MEMBER(LaunchConfig, grid, CUlaunchConfig, gridDimX);
CUPILOT_MEMBER(LaunchConfig, block, CUlaunchConfig, blockDimX);
CUPILOT_MEMBER(LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
CUPILOT_MEMBER(LaunchConfig, stream, CUlaunchConfig, hStream);
CUPILOT_MEMBER(LaunchConfig, attributes, CUlaunchConfig, attrs);
CUPILOT_MEMBER(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
CUPILOT_MEMBER(LaunchAttribute, id, CUlaunchAttribute, id);
CUPILOT_MEMBER(LaunchAttribute, value, CUlaunchAttribute, value);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(kAttributeCooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
              kAttributeCluster == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(kExtraEnd == CU_LAUNCH_PARAM_END_AS_INT &&
              kExtraBuffer == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT &&
              kExtraSize == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);
static_assert(kDriverInvalidValue == CUDA_ERROR_INVALID_VALUE &&
              kCaptureInvalidated == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED &&
              kCaptureUnjoined == CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
static_assert(kMaxDynamicSharedBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kPointerMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE &&
              kPointerHostPointer == CU_POINTER_ATTRIBUTE_HOST_POINTER &&
              kPointerIsManaged == CU_POINTER_ATTRIBUTE_IS_MANAGED &&
              kPointerRangeStart == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR &&
              kPointerRangeSize == CU_POINTER_ATTRIBUTE_RANGE_SIZE);
static_assert(sizeof(CUmemGenericAllocationHandle) == sizeof(std::uint64_t) &&
              sizeof(CUdeviceptr) == sizeof(std::uint64_t));
static_assert(kMemoryHost == CU_MEMORYTYPE_HOST && kMemoryDevice == CU_MEMORYTYPE_DEVICE);

static_assert(kCuptiTaken == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(kDriverDomain == CUPTI_CB_DOMAIN_DRIVER_API &&
              kResourceDomain == CUPTI_CB_DOMAIN_RESOURCE && kEnter == CUPTI_API_ENTER);
static_assert(kContextCreated == CUPTI_CBID_RESOURCE_CONTEXT_CREATED &&
              kContextDestroyed == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING &&
              kModuleLoaded == CUPTI_CBID_RESOURCE_MODULE_LOADED &&
              kModuleUnloaded == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
static_assert(kConcurrentKernels == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
              kFlushAll == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED &&
              kZeroedBuffers == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
CUPILOT_MEMBER(CallbackData, site, CUpti_CallbackData, callbackSite);
CUPILOT_MEMBER(CallbackData, parameters, CUpti_CallbackData, functionParams);
CUPILOT_MEMBER(CallbackData, result, CUpti_CallbackData, functionReturnValue);
CUPILOT_MEMBER(CallbackData, symbol, CUpti_CallbackData, symbolName);
CUPILOT_MEMBER(CallbackData, context, CUpti_CallbackData, context);
CUPILOT_MEMBER(CallbackData, correlation, CUpti_CallbackData, correlationId);
CUPILOT_MEMBER(ResourceData, context, CUpti_ResourceData, context);
CUPILOT_MEMBER(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
CUPILOT_MEMBER(ModuleData, bytes, CUpti_ModuleResourceData, cubinSize);
CUPILOT_MEMBER(ModuleData, image, CUpti_ModuleResourceData, pCubin);

template <class Theirs>
constexpr bool SameRecord() {
#define CUPILOT_SAME(ours, theirs) (offsetof(KernelRecord, ours) == offsetof(Theirs, theirs))
  return CUPILOT_SAME(kind, kind) && CUPILOT_SAME(begin, start) && CUPILOT_SAME(end, end) &&
         CUPILOT_SAME(grid, gridX) && CUPILOT_SAME(block, blockX) &&
         CUPILOT_SAME(dynamic_shared, dynamicSharedMemory) &&
         CUPILOT_SAME(correlation, correlationId) && CUPILOT_SAME(name, name) &&
         CUPILOT_SAME(graph_node, graphNodeId);
}
static_assert(SameRecord<CUpti_ActivityKernel5>() && SameRecord<CUpti_ActivityKernel7>() &&
              SameRecord<CUpti_ActivityKernel9>());

static_assert(std::is_same_v<CUptiResult (*)(CUpti_BuffersCallbackRequestFunc,
                                             CUpti_BuffersCallbackCompleteFunc),
                             decltype(&cuptiActivityRegisterCallbacks)>);

TEST(Declarations, AreThoseOfTheToolkit) { SUCCEED(); }

}  // namespace
}  // namespace cupilot::capture
#else
TEST(Declarations, AreThoseOfTheToolkit) { GTEST_SKIP() << "there is no toolkit here"; }
#endif
